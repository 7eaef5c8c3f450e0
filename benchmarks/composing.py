"""How long Hydra's public `compose` takes for all jobs of the paper's sweeps, beside this project's composer.

    python -m benchmarks.composing

Each sweep is composed by both, one after the other, and it is checked that both give the same settings.
"""

from time import process_time

from hydra import compose, initialize_config_dir

from pomrl.configuration.composition import Composer, plain
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.study import find


def main() -> None:
    """Print the CPU seconds of both, and the number of jobs.

    Raises:
        RuntimeError: They compose something else.
    """
    study, seconds, number = find("pomrl"), [0.0, 0.0], 0
    composer = Composer.of_sources(PUBLISHED)
    with initialize_config_dir(str(PUBLISHED.folder), version_base=None):
        for name in study.sweeps:
            start = process_time()
            sweep = {"experiment": study.option(name)}
            jobs = composer.product({**sweep, **composer.axes(study.option(name))})
            here = composer.each(jobs)
            between = process_time()
            configs = [compose("config", job, return_hydra_config=True) for job in jobs]
            there = [plain(config, config.hydra.runtime.choices) for config in configs]
            seconds = [seconds[0] + between - start, seconds[1] + process_time() - between]
            number += len(jobs)
            if [each.values for each in there] != [each.values for each in here]:
                raise RuntimeError(f"{name}: Hydra composes something else")
    ours, hydras = seconds
    print(f"{number} jobs: this project {ours:.1f} s, Hydra {hydras:.1f} s of CPU, {hydras / ours:.0f} times as long")


if __name__ == "__main__":
    main()

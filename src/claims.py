"""Check the claims of the paper on what is stored: python -m src.claims.

Prints a verdict for each claim, writes every comparison behind them to outputs/claims.csv, and the scorecard to
outputs/scorecard.md. All complete runs are used that the settings of a sweep have in common. --readings and
--environments do so under every reading of the paper's text, and in each of fifty environments; --replace with an
option of one's own in the place of one of ours, and says what it gains: outputs/extensions/YOURS/.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any, NoReturn, cast

import pandas as pd
from joblib import Parallel, cpu_count, delayed
from rich.console import Console
from rich.table import Table

from pomrl import published, store, summary
from pomrl.claims import CLAIMS, family, stored
from pomrl.claims.losses import Sweep
from pomrl.claims.report import Judged, estimate, judge, scorecard, table, threshold
from pomrl.claims.verdict import MOST_RUNS, Evidence, Verdict
from pomrl.conf import Conf, Replacement, add_arguments, add_replacement, conf_of
from pomrl.config import ConfigError
from pomrl.figures import readings as readings_figure
from pomrl.figures.parts.files import save
from pomrl.gains import Pairs, gains, wide
from pomrl.provenance import commit

CONF = Conf(Path(__file__).parents[1] / "conf")

STYLES = {Verdict.REPRODUCED: "green", Verdict.NOT_REPRODUCED: "red", Verdict.INCONCLUSIVE: "yellow"}

LEGEND = (
    "verdict: with Holm's correction over all claims, and beneath it without where that differs; (s): readings were "
    "chosen after looking at what the claim is about; the estimate is that of the decisive comparison, with its 95 % "
    "interval; in pairs: over runs; all comparisons are in claims.csv"
)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m src.claims", description="Check the claims on stored runs.")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--readings", action="store_true", help="under every reading of the paper's text instead")
    instead.add_argument("--environments", action="store_true", help="in each of fifty environments instead")
    add_replacement(instead)
    add_arguments(parser)
    arguments = parser.parse_args()
    try:
        conf = conf_of(CONF, arguments)
        if arguments.readings:
            under_readings()
        elif arguments.environments:
            in_environments()
        else:
            of_sweeps(conf)
    except (ConfigError, store.StoreError, OSError) as error:
        _exit(" ".join(str(error).split()))


def of_sweeps(conf: Conf) -> None:
    """Verdicts under the default reading, and what is gained where an option of one's own stands in for one of ours."""
    settings = _settings(conf)
    sweeps = stored.sweeps(settings)
    if not sweeps:
        command = published.command(conf, "task_similarity")
        _exit(f"nothing is stored to check; ./reproduce.sh computes all of it, and a sweep of it: {command}")
    judged = judge(sweeps)
    folder = conf.results(store.root().parent)
    write(judged, folder)
    show(judged, sweeps, conf)
    if conf.replacement:
        show_gains(conf, conf.replacement, settings, folder)


def _settings(conf: Conf) -> dict[str, list[published.Setting]]:
    """Of each sweep that claims read. Those that cannot be with the option that stands in are named, and left out."""
    found = {}
    for name in dict.fromkeys(name for claim in CLAIMS for name in claim.experiments):
        try:
            found[name] = published.sweep(conf, name)
        except ConfigError as error:
            if not conf.replacement:
                raise
            print(f"not with {conf.replacement.new}: {error}", file=sys.stderr)
    return found


def show_gains(
    conf: Conf, replacement: Replacement, settings: Mapping[str, Sequence[published.Setting]], folder: Path
) -> None:
    """Write and print what is gained over the option that is replaced."""
    pairs: dict[str, Pairs] = {
        name: list(zip(published.sweep(conf.as_published, name), theirs, strict=True))
        for name, theirs in settings.items()
    }
    found = gains(pairs, replacement)
    if found.empty:
        return
    _write_table(found, folder / "gains.csv")
    _print_table("what it gains: loss on average over tasks, theirs less ours, in pairs, 95 %", wide(found))


def under_readings() -> None:
    """The matrix of claims and readings: outputs/readings.csv, a figure, and tables in the terminal."""
    readings = published.readings(CONF)
    judged = cast(list[list[Judged]], _parallel(stored.under, *zip(*readings.items(), strict=True)))
    if not all(judged):
        _exit("readings are not stored; to compute them: python -m src.run experiment=readings")
    matrix = family.matrix({reading.name: of for reading, of in zip(readings, judged, strict=True)})
    outputs = store.root().parent
    _write_table(matrix, outputs / "readings.csv")
    save(readings_figure.draw(matrix), outputs / "figures", "readings", {"figure": "readings", **commit()})
    single = [reading.name for reading in readings if len(reading.choices) == 1]
    ranking = family.ranking(matrix)
    numbered = ranking.rename_axis("number").rename(lambda index: index + 1).reset_index()
    _print_table("readings, those that agree best with the paper first", numbered)
    _print_matrix(family.compact(matrix))
    best = ranking.iloc[0]
    claims = matrix["claim"].nunique()
    print(f"\n{best['reading']} agrees best: {best[Verdict.REPRODUCED]} of {claims} claims are reproduced under it\n")
    _print_table("single choices that change a verdict", family.effects(matrix, single))
    _print_table("under how many readings each claim has which verdict", family.over_readings(matrix))


def in_environments() -> None:
    """In what share of environments each claim is shown: outputs/environments.csv, and a table in the terminal."""
    environments = stored.environments(published.sweep(CONF, "environments"))
    of_each = cast(list[dict[str, Evidence]], _parallel(stored.in_environment, environments))
    if not all(of_each):
        _exit("environments are not stored; to compute them: python -m src.run experiment=environments")
    shares = family.shares({id: [found[id] for found in of_each] for id in of_each[0]})
    _write_table(shares, store.root().parent / "environments.csv")
    _print_table("shares of environments in which the runs show a claim or refute it", _with_intervals(shares))


def _with_intervals(shares: pd.DataFrame) -> pd.DataFrame:
    """The shares as words, each with its interval."""
    return pd.DataFrame(
        {"claim": shares["claim"]}
        | {
            str(verdict): [
                f"{share:.2f} [{lower:.2f}, {upper:.2f}]"
                for share, lower, upper in zip(
                    shares[verdict], shares[f"{verdict}, lower"], shares[f"{verdict}, upper"], strict=True
                )
            ]
            for verdict in (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED)
        }
        | {"median estimate": ["" if isnan(value) else f"{value:.2f}" for value in shares["median estimate"]]}
    )


def _parallel(function: Callable[..., Any], *arguments: Iterable[Any]) -> list[Any]:
    """A function of each tuple of arguments, in as many processes as there are cores."""
    return cast(list[Any], Parallel(n_jobs=cpu_count())(map(delayed(function), *arguments)))


def _print_table(title: str, frame: pd.DataFrame) -> None:
    shown = summary.plain_table(title, *frame.columns)
    for row in frame.itertuples(index=False):
        shown.add_row(*(f"{value:.2f}" if isinstance(value, float) else str(value) for value in row))
    _console().print(shown)


def _print_matrix(compact: pd.DataFrame) -> None:
    """Claims under readings by their numbers, in lines that a terminal holds."""
    print("\nclaims under readings, by number: + reproduced, - not reproduced, . inconclusive\n")
    numbers = [name if name == "claim" else f"{int(name) % 10}" for name in compact.columns]
    tens = ["" if name == "claim" else f"{int(name) // 10 or ' '}" for name in compact.columns]
    for head, *symbols in [tens, numbers, *compact.itertuples(index=False)]:
        print(f"{head:6}{' '.join(map(str, symbols))}")


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else 80, highlight=False, markup=False)


def show(judged: Sequence[Judged], sweeps: Mapping[str, Sweep], conf: Conf = CONF) -> None:
    """Print the verdicts, and what to run for those that are open or not computed."""
    console = _console()
    console.print(_verdicts(judged, _title(conf)))
    for each in judged:
        if each.provisional or each.verdict is Verdict.INCONCLUSIVE:
            _print_advice(console, *_advice(each, conf))
    for lacking, ids in _not_computed(sweeps).items():
        _print_advice(console, f"not computed: {', '.join(ids)}", [published.command(conf, name) for name in lacking])


def _not_computed(sweeps: Mapping[str, Sweep]) -> dict[tuple[str, ...], list[str]]:
    """The claims that lack sweeps, by the sweeps they lack."""
    found: dict[tuple[str, ...], list[str]] = {}
    for claim in CLAIMS:
        if lacking := tuple(name for name in claim.experiments if name not in sweeps):
            found.setdefault(lacking, []).append(claim.id)
    return found


def _title(conf: Conf) -> str:
    stands_in = conf.replacement
    return f"claims, with {stands_in.new} in the place of {stands_in.old}" if stands_in else "claims"


def _verdicts(judged: Sequence[Judged], title: str) -> Table:
    shown = summary.plain_table(title, "claim", "verdict", "estimate [95 %]", "of what")
    for each in judged:
        part, parts = each.evidence.decisive, len(each.evidence.parts)
        verdict = ("provisional: " if each.provisional else "") + each.verdict
        if each.evidence.verdict is not each.verdict:
            verdict += f"\n({each.evidence.verdict})"
        what = part.compared + (f" (1 of {parts})" if parts > 1 else "")
        name = " ".join([each.claim.id, each.claim.mark]).strip()
        numbers = f"{estimate(part)}\nclaimed {threshold(part)}"
        shown.add_row(name, verdict, numbers, what, style=STYLES[each.verdict])
    shown.caption = LEGEND
    return shown


def _advice(judged: Judged, conf: Conf) -> tuple[str, list[str]]:
    """What would settle a claim, and the commands that do it."""
    claim, runs = judged.claim, None
    if judged.provisional:
        sentence = f"{judged.runs} of {claim.runs} runs"
    elif (runs := judged.runs_to_decide) is None:
        return f"{claim.id}: more than {MOST_RUNS} runs would be needed to decide it", []
    else:
        sentence = f"about {runs} runs would decide it"
    return f"{claim.id}: {sentence}", [published.command(conf, name, runs) for name in claim.experiments]


def _print_advice(console: Console, sentence: str, commands: Sequence[str]) -> None:
    console.print(sentence)
    for command in commands:
        console.print(f"    {command}", soft_wrap=True)  # a command that is broken cannot be copied


def write(judged: Sequence[Judged], folder: Path) -> None:
    """Every comparison as a table, and the scorecard."""
    _write_table(table(judged), folder / "claims.csv")
    (folder / "scorecard.md").write_text(scorecard(judged))


def _write_table(frame: pd.DataFrame, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")


def _exit(line: str) -> NoReturn:
    print(line, file=sys.stderr)
    raise SystemExit(1)


if __name__ == "__main__":
    main()

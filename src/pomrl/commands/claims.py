"""Check the claims of the paper on what is stored: python -m src.claims.

The command prints a verdict for each claim, writes every comparison behind the verdicts to outputs/claims.csv, and
writes the scorecard to outputs/scorecard.md. All settings of a sweep are judged on the same runs: those that are stored
for each of them. With --readings, the claims are checked under every reading of the paper's text; with --environments,
in each of fifty environments; and with --replace, with an option of your own in the place of one of ours. In the last
case, outputs/extensions/YOURS/ also has the paired differences between the two options.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, cpu_count, delayed
from rich.console import Console
from rich.table import Table

from pomrl.claims import CLAIMS, loading, robustness
from pomrl.claims.judging import Judged, estimate, judge, scorecard, table
from pomrl.claims.verdict import LOOKS, MOST_RUNS, Evidence, Verdict, claimed_range
from pomrl.commands import tables
from pomrl.commands.arguments import Parser, add_arguments, add_replacement, sources_of
from pomrl.commands.errors import one_line_errors
from pomrl.commands.progress import simulate
from pomrl.commands.terminal import console, exit_with, printable, warn
from pomrl.configuration import studies
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.outputs import outputs
from pomrl.configuration.sources import PUBLISHED, Replacement, Sources
from pomrl.results.replacement import Pairs, paired_differences, wide
from pomrl.store.derived import DerivedFiles
from pomrl.store.provenance import commit

LEGEND = (
    "verdict: with Holm's correction over all claims, and beneath it without where that differs; (s): readings were "
    "chosen after looking at what the claim is about; the estimate is that of the decisive comparison, with its 95 % "
    "interval; in pairs: over runs; all comparisons are in claims.csv"
)


@one_line_errors()
def main() -> None:
    """Run the command with the arguments of the process; exit with status 1 and one line where nothing is stored."""
    parser = Parser(prog="python -m src.claims", description="Check the claims on stored runs.")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--readings", action="store_true", help="under every reading of the paper's text instead")
    instead.add_argument("--environments", action="store_true", help="in each of fifty environments instead")
    add_replacement(instead)
    add_arguments(parser)
    arguments = parser.parse_args()
    sources = sources_of(arguments)
    if arguments.readings:
        check_readings()
    elif arguments.environments:
        check_environments()
    else:
        check_sweeps(sources)


def check_sweeps(sources: Sources) -> None:
    """Judge the claims on the stored sweeps, with the replacement where there is one; write and print the verdicts."""
    settings = _settings(sources)
    sweeps = loading.sweeps(settings)
    if not sweeps:
        command = studies.command(sources, "task_similarity")
        exit_with(f"nothing is stored to check; to compute everything: ./reproduce.sh; to compute one sweep: {command}")
    simulate(loading.needed_simulations())
    judged = judge(sweeps, loading.simulations())
    folder = sources.results(outputs())
    texts = {"claims.csv": _csv(table(judged)), "scorecard.md": scorecard(judged).encode()}
    DerivedFiles(folder / "claims.json").write(texts, _origin(sources.replacement))
    show(judged, sweeps, sources)
    if sources.replacement:
        _show_replacement(sources, sources.replacement, settings, folder)


def _settings(sources: Sources) -> dict[str, list[studies.Setting]]:
    """Return the settings of each sweep that claims are about.

    A sweep that cannot be composed with the replacement is named on standard error and left out.
    """
    settings = {}
    for name in dict.fromkeys(name for claim in CLAIMS for name in claim.experiments):
        try:
            settings[name] = studies.sweep(sources, name)
        except ConfigError as error:
            if not sources.replacement:
                raise
            warn(f"not with {sources.replacement.new}: {error}")
    return settings


def _show_replacement(
    sources: Sources, replacement: Replacement, settings: Mapping[str, Sequence[studies.Setting]], folder: Path
) -> None:
    """Write and print the differences in loss between the user's option and the published one."""
    pairs: dict[str, Pairs] = {
        name: list(zip(studies.sweep(sources.as_published, name), theirs, strict=True))
        for name, theirs in settings.items()
    }
    differences = paired_differences(pairs, replacement)
    if not differences.empty:
        _write_table(differences, folder / "gains.csv", replacement)
        _print_table("what it gains: loss on average over tasks, theirs less ours, in pairs, 95 %", wide(differences))


def check_readings() -> None:
    """Judge the claims under every reading: outputs/readings.csv, a figure, and tables in the terminal."""
    readings = studies.readings(PUBLISHED)
    if any(map(loading.sweeps, readings.values())):
        simulate(loading.needed_simulations())
    judged: list[list[Judged]] = _parallel(loading.under, *zip(*readings.items(), strict=True))
    if not all(judged):
        exit_with("readings are not stored; to compute them: python -m src.run experiment=readings")
    matrix = robustness.matrix({reading.name: claims for reading, claims in zip(readings, judged, strict=True)})
    _write_table(matrix, outputs() / "readings.csv")
    from pomrl.figures import readings as readings_figure  # here, because the other verdicts need no figures
    from pomrl.figures.parts.files import Sidecar, save

    save(readings_figure.draw(matrix), outputs() / "figures", "readings", Sidecar("readings", **commit()))
    _show_readings(matrix, [reading.name for reading in readings if len(reading.choices) == 1])


def _show_readings(matrix: pd.DataFrame, single: Sequence[str]) -> None:
    """Print the matrix of claims and readings; `single` names the readings that consist of one choice."""
    ranking = robustness.ranking(matrix)
    numbered = ranking.rename_axis("number").rename(lambda index: index + 1).reset_index()
    _print_table("readings, those that agree best with the paper first", numbered)
    _print_matrix(robustness.compact(matrix))
    best = ranking.iloc[0]
    claims = matrix["claim"].nunique()
    print(f"\n{best['reading']} agrees best: {best[Verdict.REPRODUCED]} of {claims} claims are reproduced under it\n")
    _print_table("single choices that change a verdict", robustness.effects(matrix, single))
    _print_table("under how many readings each claim has which verdict", robustness.over_readings(matrix))


def check_environments() -> None:
    """Judge the claims in each environment: outputs/environments.csv, and a table in the terminal."""
    environments = loading.environments(studies.sweep(PUBLISHED, "environments"))
    evidence: list[dict[str, Evidence]] = _parallel(loading.in_environment, environments)
    if not all(evidence):
        exit_with("environments are not stored; to compute them: python -m src.run experiment=environments")
    shares = robustness.shares({id: [by_claim[id] for by_claim in evidence] for id in evidence[0]})
    _write_table(shares, outputs() / "environments.csv")
    _print_table("shares of environments in which the runs show a claim or refute it", _with_intervals(shares))


def _with_intervals(shares: pd.DataFrame) -> pd.DataFrame:
    """Write the shares of environments in words, each with its interval."""
    in_words: dict[str, Any] = {"claim": shares["claim"]}
    for verdict in (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED):
        columns = shares[[verdict, f"{verdict}, lower", f"{verdict}, upper"]].to_numpy()
        in_words[str(verdict)] = [f"{share:.2f} [{lower:.2f}, {upper:.2f}]" for share, lower, upper in columns]
    in_words["median estimate"] = ["" if isnan(value) else f"{value:.2f}" for value in shares["median estimate"]]
    return pd.DataFrame(in_words)


def _parallel(function: Callable[..., Any], *arguments: Iterable[Any]) -> list[Any]:
    """Call a function on each tuple of arguments, in as many processes as there are cores."""
    return list(Parallel(n_jobs=cpu_count())(map(delayed(function), *arguments)))


def _print_table(title: str, frame: pd.DataFrame) -> None:
    shown = tables.plain_table(title, *frame.columns)
    for row in frame.itertuples(index=False):
        tables.add_row(shown, *(f"{value:.2f}" if isinstance(value, float) else value for value in row))
    console().print(shown)


def _print_matrix(compact: pd.DataFrame) -> None:
    """Print the verdicts on claims under numbered readings, in lines that are narrow enough for a terminal."""
    symbols = ", ".join(f"{LOOKS[verdict].symbol} {verdict}" for verdict in Verdict)
    print(f"\nclaims under readings, by number: {symbols}\n")
    numbers = [name if name == "claim" else f"{int(name) % 10}" for name in compact.columns]
    tens = ["" if name == "claim" else f"{int(name) // 10 or ' '}" for name in compact.columns]
    for head, *of_readings in [tens, numbers, *compact.itertuples(index=False)]:
        print(f"{head:6}{' '.join(map(str, of_readings))}")


def show(judged: Sequence[Judged], sweeps: Collection[str], sources: Sources = PUBLISHED) -> None:
    """Print the verdicts, and the commands that would settle claims that are open or are not judged.

    Args:
        judged: The claims that were judged.
        sweeps: The names of the sweeps of which runs are stored.
        sources: Where the configurations come from, with the replacement if there is one.
    """
    terminal = console()
    replacement = sources.replacement
    title = f"claims, with {replacement.new} in the place of {replacement.old}" if replacement else "claims"
    terminal.print(_verdicts(judged, title))
    for one in judged:
        if one.provisional or one.verdict is Verdict.INCONCLUSIVE:
            _print_advice(terminal, *_advice(one, sources))
    for lacking, ids in _not_judged(judged, sweeps).items():
        _print_advice(terminal, f"not computed: {', '.join(ids)}", [studies.command(sources, name) for name in lacking])


def _not_judged(judged: Sequence[Judged], sweeps: Collection[str]) -> dict[tuple[str, ...], list[str]]:
    """Group the ids of the claims that were not judged by the sweeps that they lack."""
    there = {one.claim.id for one in judged}
    by_lacking: dict[tuple[str, ...], list[str]] = {}
    for claim in CLAIMS:
        if claim.id not in there:
            lacking = tuple(name for name in claim.experiments if name not in sweeps)
            by_lacking.setdefault(lacking, []).append(claim.id)
    return by_lacking


def _verdicts(judged: Sequence[Judged], title: str) -> Table:
    """Return a table for the terminal with the verdict on each claim and its decisive comparison."""
    shown = tables.plain_table(title, "claim", "verdict", "estimate [95 %]", "of what")
    for one in judged:
        part, parts = one.evidence.decisive, len(one.evidence.parts)
        verdict = ("provisional: " if one.provisional else "") + one.verdict
        if one.evidence.verdict is not one.verdict:
            verdict += f"\n({one.evidence.verdict})"
        compared = part.compared + (f" (1 of {parts})" if parts > 1 else "")
        name = " ".join([one.claim.id, one.claim.mark]).strip()
        numbers = f"{estimate(part)}\nclaimed {claimed_range(part.above, part.below)}"
        shown.add_row(name, verdict, numbers, compared, style=LOOKS[one.verdict].style)
    shown.caption = LEGEND
    return shown


def _advice(judged: Judged, sources: Sources) -> tuple[str, list[str]]:
    """Return a sentence on what would settle a claim, and the commands that compute it."""
    claim, runs = judged.claim, None
    if judged.provisional:
        sentence = f"{judged.runs} of {judged.promised} runs"
    elif (runs := judged.runs_to_decide) is None:
        return f"{claim.id}: more than {MOST_RUNS} runs would be needed to decide it", []
    else:
        sentence = f"about {runs} runs would decide it"
    return f"{claim.id}: {sentence}", [studies.command(sources, name, runs) for name in claim.experiments]


def _print_advice(terminal: Console, sentence: str, commands: Sequence[str]) -> None:
    terminal.print(sentence)
    for command in commands:
        terminal.print(f"    {printable(command)}", soft_wrap=True)  # a command that is broken cannot be copied


def _write_table(frame: pd.DataFrame, path: Path, replacement: Replacement | None = None) -> None:
    """Write a table as NAME.csv, and its digest to NAME.json."""
    DerivedFiles(path.with_suffix(".json")).write({path.name: _csv(frame)}, _origin(replacement))


def _csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False, float_format="%.6g", lineterminator="\n").encode()


def _origin(replacement: Replacement | None) -> dict[str, Any]:
    """Return what the sidecar of a table says of where it comes from."""
    return commit() | ({"replacement": asdict(replacement)} if replacement else {})

"""Check the claims of the paper on what is stored: python -m src.claims.

Prints a verdict for each claim, writes every comparison behind them to outputs/claims.csv, and the scorecard to
outputs/scorecard.md. All complete runs are used that the settings of a sweep have in common. --readings and
--environments do so under every reading of the paper's text, and in each of fifty environments.
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
from pomrl.figures import readings as readings_figure
from pomrl.figures.parts.files import save
from pomrl.provenance import commit

CONF = Path(__file__).parents[1] / "conf"

STYLES = {Verdict.REPRODUCED: "green", Verdict.NOT_REPRODUCED: "red", Verdict.INCONCLUSIVE: "yellow"}

LEGEND = (
    "verdict: with Holm's correction over all claims, and beneath it without where that differs; (s): readings were "
    "chosen after looking at what the claim is about; the estimate is that of the decisive comparison, with its 95 % "
    "interval; in pairs: over runs; all comparisons are in claims.csv"
)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m src.claims", description="Check the claims on stored runs.")
    family = parser.add_mutually_exclusive_group()
    family.add_argument("--readings", action="store_true", help="under every reading of the paper's text instead")
    family.add_argument("--environments", action="store_true", help="in each of fifty environments instead")
    arguments = parser.parse_args()
    try:
        if arguments.readings:
            under_readings()
        elif arguments.environments:
            in_environments()
        else:
            as_published()
    except (store.StoreError, OSError) as error:
        _exit(" ".join(str(error).split()))


def as_published() -> None:
    """Verdicts under the default reading."""
    names = dict.fromkeys(name for claim in CLAIMS for name in claim.experiments)
    sweeps = stored.sweeps({name: published.sweep(CONF, name) for name in names})
    if not sweeps:
        _exit("nothing is stored to check; ./reproduce.sh computes all of it")
    judged = judge(sweeps)
    write(judged, store.root().parent)
    show(judged, sweeps)


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
    """The share of environments in which each claim holds: outputs/environments.csv, and a table in the terminal."""
    environments = stored.environments(published.sweep(CONF, "environments"))
    of_each = cast(list[dict[str, Evidence]], _parallel(stored.in_environment, environments))
    if not all(of_each):
        _exit("environments are not stored; to compute them: python -m src.run experiment=environments")
    shares = family.shares({id: [found[id] for found in of_each] for id in of_each[0]})
    _write_table(shares, store.root().parent / "environments.csv")
    _print_table("shares of environments in which a claim holds or is refuted, each by itself", _with_intervals(shares))


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


def show(judged: Sequence[Judged], sweeps: Mapping[str, Sweep]) -> None:
    """Print the verdicts, and what to run for those that are open or not computed."""
    console = _console()
    console.print(_verdicts(judged))
    for each in judged:
        if each.provisional or each.verdict is Verdict.INCONCLUSIVE:
            console.print(_advice(each))
    for lacking, ids in _not_computed(sweeps).items():
        console.print(f"not computed: {', '.join(ids)}{_commands(lacking)}")


def _not_computed(sweeps: Mapping[str, Sweep]) -> dict[tuple[str, ...], list[str]]:
    """The claims that lack sweeps, by the sweeps they lack."""
    found: dict[tuple[str, ...], list[str]] = {}
    for claim in CLAIMS:
        if lacking := tuple(name for name in claim.experiments if name not in sweeps):
            found.setdefault(lacking, []).append(claim.id)
    return found


def _verdicts(judged: Sequence[Judged]) -> Table:
    shown = summary.plain_table("claims", "claim", "verdict", "estimate [95 %]", "of what")
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


def _advice(judged: Judged) -> str:
    if judged.provisional:
        return f"{judged.claim.id}: {judged.runs} of {judged.claim.runs} runs{_commands(judged.claim.experiments)}"
    runs = judged.runs_to_decide
    if runs is None:
        return f"{judged.claim.id}: more than {MOST_RUNS} runs would be needed to decide it"
    return f"{judged.claim.id}: about {runs} runs would decide it{_commands(judged.claim.experiments, runs)}"


def _commands(experiments: Sequence[str], runs: int | None = None) -> str:
    more = f" runs={runs}" if runs else ""
    return "".join(f"\n    python -m src.run experiment={name}{more}" for name in experiments)


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

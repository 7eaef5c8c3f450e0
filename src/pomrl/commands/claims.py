"""Check the claims of the paper on what is stored: python -m src.claims.

The command prints a verdict for each claim, writes every comparison behind the verdicts to outputs/claims.csv, and
writes the scorecard to outputs/scorecard.md. With --decide, it first adds runs to the experiments that undecided claims
read, within a budget; without, it judges what is stored. The verdicts at the paper's own numbers of runs are in
outputs/claims_at_paper_runs.csv. With --readings, the claims are checked under every reading of the paper's text; with
--environments, in each of fifty environments; and with --replace, with an option of your own in the place of one of
ours. In the last case, outputs/extensions/YOURS/ also has the paired differences between the two options. With
--document, docs/claims.md and the answer in the README are made from outputs/claims.csv. With --turns, claims whose
verdicts differ between the text and the authors' notebook are judged with the single difference that turns them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, cpu_count, delayed
from rich.console import Console
from rich.table import Table

from pomrl import store
from pomrl.claims import CLAIMS, authors, deciding, document, environments, judging, loading, robustness, scorecard
from pomrl.claims.chances import chance
from pomrl.claims.deciding import Spending
from pomrl.claims.environments import TrueShare
from pomrl.claims.loading import Basis, Reader
from pomrl.claims.precision import of_simulation
from pomrl.claims.scorecard import Row, Scored
from pomrl.claims.verdict import LOOKS, Verdict, claimed_range
from pomrl.commands import tables
from pomrl.commands.arguments import Parser, add_arguments, add_replacement, sources_of
from pomrl.commands.errors import one_line_errors
from pomrl.commands.progress import progress, simulate
from pomrl.commands.terminal import console, exit_with, printable, warn
from pomrl.configuration import notebook, studies
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.outputs import outputs
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.sources import PUBLISHED, Replacement, Sources
from pomrl.execution import ExecutionError
from pomrl.report import ReportError
from pomrl.report.stored_tables import read_table
from pomrl.results.replacement import Pairs, paired_differences, wide
from pomrl.running import estimates, sweeps
from pomrl.store import files
from pomrl.store.derived import DerivedFiles
from pomrl.store.provenance import commit

BUDGET = 400.0
"""The default budget of --decide, in estimated seconds of one core."""

ROOT = Path(__file__).parents[3]
DOCUMENT, README = ROOT / "docs" / "claims.md", ROOT / "README.md"

LEGEND = (
    "estimate: of the decisive comparison, with the interval that decided it, after so many runs; N runs: the "
    "probability that the paper's number of runs shows the claim by itself; envs: the share of environments in which "
    "it is true, <= where it is that of the hardest part; (s): readings were chosen after looking at what the claim is "
    "about; all comparisons are in claims.csv"
)

OTHER_BASIS = "authors"
"""The head of the column of verdicts on the basis of the authors' notebook."""

OTHER_LEGEND = (
    "authors: whether it holds as the authors' published notebook computes it, * where the notebook does not contain "
    "the experiment"
)

SHORT = {Verdict.REPRODUCED: "holds", Verdict.NOT_REPRODUCED: "not", Verdict.UNDECIDED: "open"}
"""The verdicts in a word."""


@one_line_errors(ReportError)
def main() -> None:
    """Run the command with the arguments of the process; exit with status 1 and one line where nothing is stored."""
    parser = Parser(prog="python -m src.claims", description="Check the claims on stored runs.")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--readings", action="store_true", help="under every reading of the paper's text instead")
    instead.add_argument("--environments", action="store_true", help="in each of fifty environments instead")
    add_replacement(instead)
    instead.add_argument("--document", action="store_true", help="renew docs/claims.md and the README from claims.csv")
    instead.add_argument(
        "--turns", action="store_true", help="with each single difference that turns a verdict instead"
    )
    add_arguments(parser)
    parser.add_argument("--decide", action="store_true", help="add the runs that undecided claims need")
    parser.add_argument(
        "--budget", type=float, metavar="SECONDS", help=f"of one core, estimated, for --decide (default {BUDGET:g})"
    )
    arguments = parser.parse_args()
    sources = sources_of(arguments)
    budget = (BUDGET if arguments.budget is None else arguments.budget) if arguments.decide else None
    if arguments.readings:
        check_readings(budget)
    elif arguments.environments:
        check_environments()
    elif arguments.turns:
        check_turns()
    elif arguments.document:
        renew_documents(outputs())
    else:
        check_sweeps(sources, budget)


def check_sweeps(sources: Sources, budget: float | None = None) -> None:
    """Judge the claims on the stored sweeps, with the replacement where there is one; write and print the verdicts.

    Args:
        sources: Where the configurations come from, with the replacement if there is one.
        budget: What the runs may cost that are added, in estimated seconds of one core; None to add none.
    """
    settings = _settings(sources, studies.sweep)
    basis, reader = Basis(authors.TEXT, settings), Reader()
    others = [] if sources.replacement else [authors.notebook(_settings(sources, notebook.sweep))]
    if budget is None and not any(map(basis.stored, basis.claims)):
        command = studies.command(sources, "task_similarity")
        exit_with(f"nothing is stored to check; to compute everything: ./reproduce.sh; to compute one sweep: {command}")
    simulate(loading.needed_simulations())
    folder, spending = sources.results(outputs()), Spending(budget or 0.0)
    scored: list[Scored] = []
    for each in (basis, *others):  # the text first: the others have what it leaves of the budget
        each.refuse_damage()
        if budget is None:
            cases = deciding.stored_outcomes([each], reader)
        else:
            cases = _decided([each], reader, spending)
            _compute(deciding.pools(each) if each is basis else [])
        scored.append(_scored(each, reader, cases, _flips(folder) if each is basis else {}))
    judged = [row.judged for row in scored[0].rows if row.judged]
    texts = {
        "claims.csv": _csv(scorecard.table(scored)),
        "claims_at_paper_runs.csv": _csv(judging.table(judged)),
        "scorecard.md": scorecard.markdown(scored).encode(),
    }
    DerivedFiles(folder / "claims.json").write(texts, _origin(sources.replacement))
    show(scored, sources)
    if sources.replacement:
        _show_replacement(sources, sources.replacement, settings, folder)


def check_turns() -> None:
    """Judge each claim that a single difference between text and notebook turns, with that difference changed."""
    sweep_of = {authors.TEXT: studies.sweep, authors.NOTEBOOK: notebook.sweep}
    for id, turn in authors.TURNED_BY.items():
        (claim,) = (claim for claim in CLAIMS if claim.id == id)
        settings = {name: sweep_of[turn.basis](PUBLISHED, name, turn.overrides) for name in claim.experiments}
        outcome = deciding.pursued(authors.turned_basis(turn, settings), claim, Reader(), _compute)
        found = f"{outcome.decisive.part.compared}: {scorecard.estimate(outcome.decisive)}, {outcome.runs} runs"
        print(f"{id} {outcome.verdict} in the experiments of the {turn.basis} with {' '.join(turn.overrides)}: {found}")


def renew_documents(folder: Path) -> None:
    """Write docs/claims.md, and the answer in the README, from the claims.csv in a folder of outputs."""
    table = read_table(folder / "claims.csv", "python -m src.claims --decide")
    if table is None:
        exit_with("no claims are judged yet; to judge them: python -m src.claims --decide")
    files.write(DOCUMENT, document.document(table, _flips(folder)).encode())
    files.write(README, document.renewed(README.read_text(), table).encode())


def _decided(bases: Sequence[Basis], reader: Reader, spending: Spending) -> list[deciding.Case]:
    """Add the runs that undecided claims need, within the budget; return each claim as judged."""
    left = spending.budget - spending.spent
    of = f", by the {bases[0].name}" if len(bases) == 1 else ""
    warn(f"adding runs until claims are decided{of}; budget: {left:.0f} s of one core, estimated; --budget sets it")
    return deciding.decide(bases, spending, reader, _compute)


def _flips(folder: Path) -> dict[str, list[str]]:
    """Return the readings of the text that turn the verdict on each claim; empty if the matrix is not stored."""
    matrix = read_table(folder / "readings.csv", "./reproduce.sh readings")
    return {} if matrix is None else robustness.flips(matrix)


def _compute(experiments: Sequence[Experiment]) -> None:
    """Compute what the store lacks of experiments, and say so.

    Raises:
        ExecutionError: A method fails.
    """
    jobs = sweeps.checked_jobs(experiments)
    lacking = sweeps.unfinished(jobs)
    if not lacking:
        return
    seconds = sum(estimates.seconds(job) for job in lacking.values())
    runs = max(job.experiment.request.runs for job in lacking.values())
    warn(f"up to {runs} runs of {len(lacking)} experiments: about {seconds:.0f} s of one core")
    with progress(sum(job.runs_missing for job in lacking.values())) as advance:
        failures = sweeps.compute(jobs, advance)
    if failures:
        raise ExecutionError("; ".join(dict.fromkeys(failure.reason for failure in failures.values())))


def _scored(basis: Basis, reader: Reader, cases: Sequence[deciding.Case], flips: Mapping[str, Sequence[str]]) -> Scored:
    """Return the rows of the scorecard: each claim of which runs are stored, in the order of the paper's questions."""
    is_text = basis.name == authors.TEXT
    simulated = loading.simulations() if is_text else {}
    about_simulations = {claim: claim.parts({}, simulated) for claim in CLAIMS if claim.simulation in simulated}
    outcomes = {case.outcome.claim.id: case.outcome for case in cases}
    outcomes |= {claim.id: of_simulation(claim, simulated) for claim in about_simulations}
    judged = {each.claim.id: each for each in judging.at_paper_runs(basis, reader, about_simulations)}
    ids = [claim.id for claim in basis.claims if claim.id in judged]
    chances = dict(zip(ids, _parallel(chance, [basis] * len(ids), ids), strict=True))
    true_shares = _true_shares() if is_text else {}
    rows = [Row(outcomes[id], each, chances.get(id), true_shares.get(id)) for id, each in judged.items()]
    return Scored(basis.name, tuple(rows), _remarks(basis, reader) if is_text else (), flips)


def _remarks(basis: Basis, reader: Reader) -> tuple[str, ...]:
    """Return a sentence on what it costs the hindsight schedules that half of the runs choose for the other half."""
    grids = [
        setting.experiment
        for setting in basis.settings.get("gamma_schedules", ())
        if tuple(setting.varied.values()) == ("pomrl", "grid")
    ]
    remarks: list[str] = []
    for grid in grids:
        numbers = [runs for runs in (grid.request.runs, 3000) if store.lookup(grid).complete() >= runs]
        costs = [
            f"with {runs} runs {losses.cost_of_halves('all_tasks'):.4f} for best_fixed and "
            f"{losses.cost_of_halves('each_task'):.4f} for dynamic_best"
            for runs in numbers
            for losses in [reader.losses(grid, runs)]
        ]
        if costs:
            remarks.append(
                "That one half of the runs chooses for the other half raises the loss of the schedules that choose in "
                f"hindsight: {'; '.join(costs)}."
            )
    return tuple(remarks)


def _true_shares() -> dict[str, TrueShare]:
    """Return in how many environments each claim is true, by the claim's id; empty if environments are not stored."""
    parts = _parallel(environments.parts_in, environments.bases(studies.sweep(PUBLISHED, "environments")))
    if not all(parts):
        return {}
    return {id: environments.true_share([of_environment[id] for of_environment in parts]) for id in parts[0]}


def _settings(
    sources: Sources, sweep: Callable[[Sources, str], list[studies.Setting]]
) -> dict[str, list[studies.Setting]]:
    """Return the settings of each sweep that claims are about, which a function of its name finds.

    A sweep that cannot be composed with the replacement is named on standard error and left out.
    """
    settings = {}
    for name in dict.fromkeys(name for claim in CLAIMS for name in claim.experiments):
        try:
            settings[name] = sweep(sources, name)
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


def check_readings(budget: float | None = None) -> None:
    """Judge the claims under every reading: outputs/readings.csv, a figure, and tables in the terminal.

    Args:
        budget: What the runs may cost that are added, in estimated seconds of one core; None to add none.
    """
    readings = studies.readings(PUBLISHED)
    bases = [Basis.of_reading(reading, settings) for reading, settings in readings.items()]
    if budget is None and not any(basis.stored(claim) for basis in bases for claim in basis.claims):
        exit_with("readings are not stored; to compute them: python -m src.run experiment=readings")
    for basis in bases:
        basis.refuse_damage()
    reader = Reader()
    cases = deciding.stored_outcomes(bases, reader) if budget is None else _decided(bases, reader, Spending(budget))
    matrix = robustness.matrix(cases)
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
    """Estimate in how many environments each claim is true: outputs/environments.csv, and a table in the terminal."""
    true_shares = _true_shares()
    if not true_shares:
        exit_with("environments are not stored; to compute them: python -m src.run experiment=environments")
    shares = robustness.shares(true_shares)
    _write_table(shares, outputs() / "environments.csv")
    _print_table("share of environments in which a claim is true (of several parts: the hardest one), 95 %", shares)


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


def show(scored: Sequence[Scored], sources: Sources = PUBLISHED) -> None:
    """Print the headline, a row for each claim, and the commands that compute what claims lack.

    Args:
        scored: The claims that were judged, by the text and then on other bases.
        sources: Where the configurations come from, with the replacement if there is one.
    """
    terminal = console()
    replacement = sources.replacement
    title = f"claims, with {replacement.new} in the place of {replacement.old}" if replacement else "claims"
    main, *others = scored
    terminal.print(_rows(main, others, title))
    terminal.print(scorecard.headline(scored))
    for row in main.rows:
        if reason := scorecard.why(row):
            terminal.print(f"{row.claim.id} {reason}")
        if row.judged and row.judged.provisional:
            sentence = f"{row.claim.id}: {row.judged.runs} of {row.judged.promised} runs"
            _print_advice(terminal, sentence, [studies.command(sources, name) for name in row.claim.experiments])
    lacking: dict[tuple[str, ...], list[str]] = {}
    for claim in scorecard.not_judged(main):
        lacking.setdefault(claim.experiments, []).append(claim.id)
    for names, ids in lacking.items():
        _print_advice(terminal, f"not computed: {', '.join(ids)}", [studies.command(sources, name) for name in names])


def _rows(main: Scored, others: Sequence[Scored], title: str) -> Table:
    """Return a table for the terminal with a row for each claim."""
    heads = [OTHER_BASIS for _ in others]
    shown = tables.plain_table(title, "claim", "verdict", *heads, "estimate", "N runs", "envs")
    for row in main.rows:
        name = " ".join([row.claim.id, row.claim.mark]).strip()
        sentence = f"{name}: {row.claim.statement} ({row.claim.where})"
        verdict = "\n".join([str(row.verdict), *_topics(row)])
        chance_of, envs = _percent(row.chance.shown.value if row.chance else None), ""
        if row.chance and row.judged:
            chance_of += f"\nof {row.judged.promised}"
        if row.true_share:
            envs = ("<= " if row.true_share.parts > 1 else "") + _percent(row.true_share.share.value)
        theirs = [_on_other_basis(other, row) for other in others]
        shown.add_row(sentence, verdict, *theirs, _numbers(row), chance_of, envs, style=LOOKS[row.verdict].style)
    shown.caption = LEGEND + (f"; {OTHER_LEGEND}" if others else "")
    return shown


def _on_other_basis(other: Scored, row: Row) -> str:
    """Return what a claim's verdict is on another basis, in a word."""
    theirs = other.row(row.claim)
    if theirs is None:
        return ""
    return SHORT[theirs.verdict] + (" *" if row.claim.id in authors.ADDED else "")


def _topics(row: Row) -> list[str]:
    """Return a line for each topic of a claim that has topics."""
    verdicts = row.outcome.verdicts
    return [f"{LOOKS[verdict].symbol} {topic}" for topic, verdict in verdicts.items()] if len(verdicts) > 1 else []


def _numbers(row: Row) -> str:
    """Return the estimate of the decisive part, what is claimed of it, and the number of runs."""
    decisive = row.decisive
    claimed = claimed_range(decisive.part.above, decisive.part.below)
    value = f"{decisive.part.estimate.value:.3f}\n[{decisive.lower:.3f}, {decisive.upper:.3f}]"
    return f"{value}\nclaimed {claimed}\n{decisive.part.estimate.runs} runs"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


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

"""Check the claims of the paper on what is stored: python -m src.claims.

The command prints a verdict for each claim, writes every comparison behind the verdicts to outputs/claims.csv, and
writes the scorecard to outputs/scorecard.md. With --decide, it first adds runs to the experiments that undecided claims
read, within a budget; without, it judges what is stored. The verdicts at the paper's own numbers of runs are in
outputs/claims_at_paper_runs.csv. With --readings, the claims are checked under every reading of the paper's text; with
--environments, in each of fifty environments; with --ours, claims of ours that go beyond the paper; and with --replace,
with an option of your own in the place of one of ours. In the last case, outputs/extensions/YOURS/ also has the paired
differences between the two options. With --document, docs/claims.md, docs/ours.md, the tables of docs/readings.md and
the answer in the README are made from what is stored. With --turns, claims whose verdicts differ between the text and
the authors' notebook are judged with the single difference that turns them. With a MODULE, the claims of your own that
it has are judged instead (docs/extending.md).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, cpu_count, delayed

from pomrl import store
from pomrl.claims import (
    CLAIMS,
    authors,
    deciding,
    document,
    environments,
    judging,
    loading,
    readings_document,
    robustness,
    scorecard,
)
from pomrl.claims.chances import chance
from pomrl.claims.deciding import Spending
from pomrl.claims.environments import TrueShare
from pomrl.claims.hindsight import costs_of_halves
from pomrl.claims.loading import Basis, Reader
from pomrl.claims.precision import of_simulation
from pomrl.claims.scorecard import Row, Scored
from pomrl.commands import ours, own_claims
from pomrl.commands.arguments import Parser, add_arguments, add_replacement, sources_of
from pomrl.commands.deciding import BUDGET, compute, decided
from pomrl.commands.errors import one_line_errors
from pomrl.commands.progress import simulate
from pomrl.commands.readings import check_readings
from pomrl.commands.result_files import csv_bytes, origin, write_table
from pomrl.commands.scorecard import show
from pomrl.commands.tables import print_table
from pomrl.commands.terminal import exit_with, warn
from pomrl.configuration import notebook, studies
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.sources import PUBLISHED, Replacement, Sources
from pomrl.outputs import outputs
from pomrl.report import ReportError
from pomrl.report.stored_tables import read_table
from pomrl.results import markdown
from pomrl.results.replacement import Pairs, paired_differences, wide
from pomrl.store import files
from pomrl.store.derived import DerivedFiles

ROOT = Path(__file__).parents[3]
DOCUMENT, READINGS, README = ROOT / "docs" / "claims.md", ROOT / "docs" / "readings.md", ROOT / "README.md"
OURS = ROOT / "docs" / "ours.md"


@one_line_errors(ReportError)
def main() -> None:
    """Run the command with the arguments of the process; exit with status 1 and one line where nothing is stored."""
    parser = Parser(prog="python -m src.claims", description="Check the claims on stored runs.")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--readings", action="store_true", help="under every reading of the paper's text instead")
    instead.add_argument("--environments", action="store_true", help="in each of fifty environments instead")
    add_replacement(instead)
    instead.add_argument("--ours", action="store_true", help="claims of ours, which go beyond the paper, instead")
    instead.add_argument(
        "--document", action="store_true", help="renew the documents and the README from what is stored"
    )
    instead.add_argument(
        "--turns", action="store_true", help="with each single difference that turns a verdict instead"
    )
    instead.add_argument("module", nargs="?", help="claims of your own instead, in the module of this dotted name")
    add_arguments(parser)
    parser.add_argument("--decide", action="store_true", help="add the runs that undecided claims need")
    parser.add_argument(
        "--budget",
        type=float,
        metavar="SECONDS",
        help=f"of one core, estimated, for --decide (default {BUDGET:g}; with --ours {ours.BUDGET:g})",
    )
    arguments = parser.parse_args()
    sources = sources_of(arguments)
    if arguments.module and arguments.decide:
        parser.error("--decide adds no runs to sweeps of your own; set runs in their YAML files")
    default = ours.BUDGET if arguments.ours else BUDGET
    budget = (default if arguments.budget is None else arguments.budget) if arguments.decide else None
    if arguments.readings:
        check_readings(budget)
    elif arguments.environments:
        check_environments()
    elif arguments.turns:
        check_turns()
    elif arguments.module:
        own_claims.check_own(sources, arguments.module)
    elif arguments.ours:
        ours.check_ours(budget)
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
            cases = decided([each], reader, spending)
            compute(deciding.pools(each) if each is basis else [])
        scored.append(_scored(each, reader, cases, _flips(folder) if each is basis else {}))
    judged = [row.judged for row in scored[0].rows if row.judged]
    texts = {
        "claims.csv": csv_bytes(scorecard.table(scored)),
        "claims_at_paper_runs.csv": csv_bytes(judging.table(judged)),
        "scorecard.md": scorecard.markdown(scored).encode(),
    }
    DerivedFiles(folder / "claims.json").write(texts, origin(sources.replacement))
    show(scored, sources)
    if sources.replacement:
        _show_replacement(sources, sources.replacement, settings, folder)


def check_turns() -> None:
    """Judge each claim that a single difference between text and notebook turns, with that difference changed."""
    sweep_of = {authors.TEXT: studies.sweep, authors.NOTEBOOK: notebook.sweep}
    for id, turn in authors.TURNED_BY.items():
        (claim,) = (claim for claim in CLAIMS if claim.id == id)
        settings = {name: sweep_of[turn.basis](PUBLISHED, name, turn.overrides) for name in claim.experiments}
        outcome = deciding.pursued(authors.turned_basis(turn, settings), claim, Reader(), compute)
        found = f"{outcome.decisive.part.compared}: {scorecard.estimate(outcome.decisive)}, {outcome.runs} runs"
        print(f"{id} {outcome.verdict} in the experiments of the {turn.basis} with {' '.join(turn.overrides)}: {found}")


def renew_documents(folder: Path) -> None:
    """Write docs/claims.md, docs/ours.md, the tables of docs/readings.md, and the answer in the README."""
    of_ours = ours.renew_document(OURS)
    table = read_table(folder / "claims.csv", "python -m src.claims --decide")
    if table is None and of_ours:
        return
    if table is None:
        exit_with("no claims are judged yet; to judge them: python -m src.claims --decide")
    files.write(DOCUMENT, document.document(table, _flips(folder)).encode())
    answer = {document.ANSWER: document.summed_up(table)}
    files.write(README, markdown.renewed(README.read_text(), answer).encode())
    matrix = read_table(folder / "readings.csv", "./reproduce.sh readings")
    if matrix is not None:
        shares = read_table(folder / "environments.csv", "./reproduce.sh readings")
        tables = readings_document.tables(matrix, shares)
        files.write(READINGS, markdown.renewed(READINGS.read_text(), tables).encode())


def check_environments() -> None:
    """Estimate in how many environments each claim is true: outputs/environments.csv, and a table in the terminal."""
    true_shares = _true_shares()
    if not true_shares:
        exit_with("environments are not stored; to compute them: python -m src.run experiment=environments")
    shares = robustness.shares(true_shares)
    write_table(shares, outputs() / "environments.csv")
    print_table("share of environments in which a claim is true (of several parts: the hardest one), 95 %", shares)


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
    return Scored(basis.name, tuple(rows), costs_of_halves(basis, reader) if is_text else (), flips)


def _true_shares() -> dict[str, TrueShare]:
    """Return in how many environments each claim is true, by the claim's id; empty if environments are not stored."""
    settings = studies.sweep(PUBLISHED, "environments")
    if not all(store.lookup(each.experiment).complete() >= each.experiment.request.runs for each in settings):
        return {}
    parts = _parallel(environments.parts_in, environments.bases(settings))
    return {id: environments.true_share([of_environment[id] for of_environment in parts]) for id in parts[0]}


def _flips(folder: Path) -> dict[str, list[str]]:
    """Return the readings of the text that turn the verdict on each claim; empty if the matrix is not stored."""
    matrix = read_table(folder / "readings.csv", "./reproduce.sh readings")
    return {} if matrix is None else robustness.flips(matrix)


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
        write_table(differences, folder / "gains.csv", replacement)
        print_table("what it gains: loss on average over tasks, theirs less ours, in pairs, 95 %", wide(differences))


def _parallel(function: Callable[..., Any], *arguments: Iterable[Any]) -> list[Any]:
    """Call a function on each tuple of arguments, in as many processes as there are cores."""
    return list(Parallel(n_jobs=cpu_count())(map(delayed(function), *arguments)))

"""Draw the figures of a study from stored runs: pomrl figures STUDY [NAME | NUMBER ...].

Each figure becomes NAME.pdf, NAME.png, NAME.csv (the values that are drawn) and NAME.json (where they come from) in
the outputs of the study. It shows the number of runs that its sweeps promise, with the bands of its caption. Beside it
NAME_intervals.* is the same figure with 95 % intervals of the mean over all runs that its curves share. A number, such
as 4 or F2, draws all figures that begin with `Figure 4` in the study, which may be several drawings of one in a paper.
"""

from collections.abc import Mapping, Sequence

from pomrl import store
from pomrl.commands.arguments import Parser, add_study, add_variants, find_variants
from pomrl.commands.terminal import exit_with, warn
from pomrl.configuration.composed import number_of
from pomrl.configuration.study import Study, find
from pomrl.configuration.sweeps import command
from pomrl.drawing.figure import figures_of
from pomrl.drawing.figures_of_study import Selection, draw, version_of, versions
from pomrl.running.work import store_simulations


def main(parser: Parser) -> None:
    """Run the command, and name the sweeps that lack runs.

    The exit status is 1 if a figure is not drawn. Of those with a number, one is enough: a paper's figure may be drawn
    here as our experiments and as its authors' show it.
    """
    add_study(parser)
    which = "its name, or its number in the paper as 4 or F2 (default: all); NAME_intervals draws that version alone"
    parser.add_argument("name", nargs="*", help=which)
    add_variants(parser)
    arguments = parser.parse_intermixed_args()  # names may follow options
    study = find(arguments.study)
    chosen = [None]
    if arguments.variants:
        chosen = find_variants(study, arguments.variants)
    names = versions(study, arguments.name)
    if not names:
        exit_with(f"{study.word}: it has no figures, which are functions with @figure in figures.py or figures/")
    if not arguments.name and not store.all_experiments() and any(figure.sweeps for figure in figures_of(study)):
        exit_with(f"{study.word}: nothing is stored that its figures show; pomrl reproduce {study.word} computes it")
    selections = [Selection(study, names, variant) for variant in chosen]
    missing, lacking = draw_all(selections, shows_paths=True)
    for sweep, line in lacking.items():
        own = not study.is_shipped and sweep in study.sweeps
        name = f"{study.word}/{sweep}" if own else study.option(sweep)
        warn(f"{line}; to compute them: {command(name)}")
    if missing and not _is_enough(study, arguments.name, {*names} - {*missing}):
        remedy = f"; pomrl reproduce {study.word} computes all of its sweeps"
        exit_with(f"not drawn: {len(missing)} of {number_of(len(names) * len(selections), 'figure')}{remedy}")


def _is_enough(study: Study, words: Sequence[str], drawn: set[str]) -> bool:
    """Return whether each word is a number, of whose figures one is drawn."""
    every = {*versions(study)}
    return bool(words) and all(word not in every and drawn & {*versions(study, [word])} for word in words)


def draw_all(selections: Sequence[Selection], *, shows_paths: bool = False) -> tuple[list[str], Mapping[str, str]]:
    """Draw figures, and print why some are not drawn; simulations that they need and that are not stored come first.

    Args:
        selections: The figures.
        shows_paths: Whether the paths of their files are printed.

    Returns:
        The names of what is not drawn, and for each sweep that lacks runs a line that says which.
    """
    shown = [version_of(selection.study, name) for selection in selections for name in selection.names]
    store_simulations(dict.fromkeys(simulation for figure in shown for simulation in figure.simulations), warn)
    missing, lacking = list[str](), dict[str, str]()
    for outcome in draw(selections):
        for path in outcome.files if shows_paths else ():
            print(path)
        if outcome.problem:
            warn(outcome.problem)
            missing.append(outcome.name)
        lacking |= outcome.lacking
    return missing, lacking

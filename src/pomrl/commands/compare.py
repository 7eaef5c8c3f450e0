"""Compare two versions of code: pomrl compare [KEY=VALUE ...] [--format FORMAT].

What the present code and the last one before it have computed of the same settings is compared as by `pomrl diff`, in
pairs of runs. Other versions are named there: pomrl diff "tag=dev code=LABEL" "tag=dev".
"""

from pomrl import store
from pomrl.commands.arguments import Parser, add_asked, add_format, filters, sources
from pomrl.commands.diff import show
from pomrl.commands.errors import one_line_errors
from pomrl.results.chosen_runs import PRESENT, PREVIOUS, meant
from pomrl.results.comparison import Side, grouped
from pomrl.store import StoreError


@one_line_errors(ValueError)
def main() -> None:
    """Run the command with the arguments of the process, and print what the edit of the code does."""
    parser = Parser(prog="pomrl compare", description="Compare what two versions of code computed, in pairs of runs.")
    add_asked(parser)
    add_format(parser)
    arguments = parser.parse_intermixed_args()
    of_code: list[dict[str, Side]] = []
    for code in (PREVIOUS, PRESENT):
        found, _ = meant(arguments.words, filters(arguments.where) | {"code": code}, sources=sources(arguments))
        of_code.append({repr(each.settings()): Side.of(each, code) for each in found if each.runs})
    old, new = of_code
    pairs = [(old[settings], new[settings]) for settings in new if settings in old]
    if not pairs:
        where = f"{store.root().absolute()}: no experiment has runs of both {PREVIOUS} and {PRESENT} code"
        raise StoreError(f"{where}; an edited default is another setting, which pomrl table code=all shows")
    show(grouped(pairs), arguments.format)

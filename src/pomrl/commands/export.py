"""Write what is stored as an RO-Crate, for an archive or a colleague: pomrl export CRATE.zip [STUDY | KEY=VALUE ...].

The crate of a study has its folder, the modules and the data that it needs beside it, the results of its sweeps, and
its claims, figures and page. `pomrl import` puts it into another folder, where nothing is computed again.
"""

from pathlib import Path

from pomrl.commands.arguments import Parser, add_asked, choose_experiments
from pomrl.commands.terminal import exit_with, warn
from pomrl.configuration.study import Study, find, is_study
from pomrl.configuration.wording import number_of
from pomrl.store import crates


def main(parser: Parser) -> None:
    """Run the command and print the path of the crate."""
    parser.add_argument("crate", type=Path, metavar="CRATE.zip", help="the archive to write")
    add_asked(parser, "STUDY")
    arguments = parser.parse_intermixed_args()
    if arguments.crate.suffix != ".zip":
        exit_with(f"{arguments.crate}: the name of the archive has to end with .zip", 2)
    if len(arguments.words) == 1 and is_study(arguments.words[0]):
        experiments, files = _export_study(arguments.crate, find(arguments.words[0]))
    else:
        of = choose_experiments(arguments, value=None)
        experiments, files = len(of.stored), crates.export(arguments.crate, of.stored)
        for line in of.notes:
            warn(line)
    warn(f"{number_of(experiments, 'experiment')}, {number_of(files, 'file')}")
    print(arguments.crate)


def _export_study(crate: Path, study: Study) -> tuple[int, int]:
    """Write the crate of a study, and return the numbers of its experiments and files."""
    from pomrl.commands import parcel  # here, because it loads all that a study is made of

    stored, experiments = zip(*parcel.list_stored(study), strict=True)
    code = {f"code/{path.as_posix()}": path for path in parcel.files_of(study, experiments)}
    made = sorted(path for path in study.outputs.rglob("[!.]*") if path.is_file())
    names = (f"studies/{study.name}/{path.relative_to(study.outputs).as_posix()}" for path in made)
    return len(stored), crates.export(crate, stored, study.described.title, code | dict(zip(names, made, strict=True)))

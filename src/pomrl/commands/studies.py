"""List studies: pomrl studies. Those that are shipped, those that are installed, and those in the current folder."""

from pathlib import Path

from pomrl.commands.arguments import Parser
from pomrl.commands.terminal import print_frame, warn
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.sources import DESCRIPTION, installed_packages, shipped_packages
from pomrl.configuration.study import Study, find, shipped_studies


def main(parser: Parser) -> None:
    """Run the command and print a table."""
    import pandas as pd

    parser.parse_args()
    rows = [
        {
            "name": study.word,
            "title": "; ".join(filter(None, [study.described.title, study.described.cite])),
            "sweeps": len(study.sweeps),
        }
        for study in [*shipped_studies(), *_further()]
    ]
    print_frame(pd.DataFrame(rows))


def _further() -> list[Study]:
    studies = []
    installed = [path.name for path in installed_packages() if path not in shipped_packages()]
    for word in (*installed, *(str(path.parent) for path in sorted(Path().glob(f"*/{DESCRIPTION}")))):
        try:
            studies.append(find(word))
        except ConfigError as error:
            warn(str(error))
    return studies

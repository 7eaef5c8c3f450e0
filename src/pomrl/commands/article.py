"""Typeset the article of a study from its stored results: pomrl article STUDY."""

from pomrl.commands.arguments import Parser, add_study
from pomrl.commands.errors import one_line_errors
from pomrl.configuration.study import find
from pomrl.report import ReportError, article


@one_line_errors(ReportError)
def main() -> None:
    """Write the article and print its path; print one line and exit with status 1 if that is not possible."""
    parser = Parser(prog="pomrl article", description="Typeset the article of a study, with numbers from its results.")
    add_study(parser)
    print(article.write(find(parser.parse_args().study)))

"""Typeset the article of a study from its stored results: pomrl article STUDY."""

from pomrl.commands.arguments import Parser, add_study
from pomrl.configuration.study import find
from pomrl.report import article


def main(parser: Parser) -> None:
    """Write the article and print its path; print one line and exit with status 1 if that is not possible."""
    add_study(parser)
    print(article.write(find(parser.parse_args().study)))

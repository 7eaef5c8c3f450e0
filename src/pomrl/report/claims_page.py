"""The page of a study with all of its claims: the answer, their table, the reasons, and all comparisons."""

from collections.abc import Mapping, Sequence

from pomrl.configuration.study import Study
from pomrl.judging import views
from pomrl.judging.judgements import Judgements
from pomrl.judging.over_variants import opposite
from pomrl.report import answer
from pomrl.report.rendering import rendered
from pomrl.results.tables import markdown


def claims_page(study: Study, judgements: Judgements, families: Mapping[str, Sequence[str]]) -> str:
    """Return the page, as Markdown.

    Args:
        study: The study.
        judgements: Its judgements.
        families: The single variants of each family, under which the opposite of a verdict is looked for.
    """
    named = [name for name in study.described.variants if judgements.of(name)]
    single = dict.fromkeys(name for of_family in families.values() for name in of_family)
    turned = opposite(judgements, study.unchanged if study.unchanged in named else named[0], list(single))
    cells = views.columns(study, judgements, named, turned)
    page = rendered(
        "claims.md.j2",
        escapes=False,
        study=study,
        judgements=judgements,
        named=named,
        listed=judgements.listed(named),
        answer=answer.text(study, judgements),
        older=views.older_in_words(study, judgements),
        legend=views.legend(study, cells),
        table=markdown([*cells], [*zip(*cells.values(), strict=True)]),
    )
    return f"{page.rstrip()}\n"

"""Documents look up verdicts and numbers, and a sentence whose verdict turns stops the build."""

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from docs.build import tables
from tests.support.judged import FOUND, HOLDS, NOT, write_judgements
from tests.support.settings import ROOT
from tests.support.worlds import PAPER

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.studies import Study, find, shipped_studies
from pomrl.judging import judgements
from pomrl.judging.agreement import compare
from pomrl.judging.claim import claims_of
from pomrl.judging.judgements import Judgements
from pomrl_report import documents as pages
from pomrl_report import lookups
from pomrl_report.lookups import Results, fill
from pomrl_report.markup import greek
from verdicts.parts import Verdict

PUBLISHED = [study for study in shipped_studies() if (study.folder / judgements.FILE).is_file()]
"""The studies with a published table of judgements."""

COLUMNS = ("claim", "variant", "compared", "part_runs", "part_verdict")
"""The columns of a table of judgements whose words the page has as they are."""


def results(folder: Path, verdicts: Mapping[str, Mapping[str, Verdict]] = FOUND) -> Results:
    table = write_judgements(folder, verdicts)
    return Results(PAPER, lambda name: (find(name), table))


def filled(folder: Path, text: str) -> str:
    return fill(text, results(folder), "page.md")


class TestPlaces:
    @pytest.mark.parametrize(
        ("lookup", "rendered"),
        [
            ("{verdict(Q1.1, printed)}", "holds"),
            ("{estimate(Q1.1, printed)}", "\u22121.000\u00a0[\u22121.001,\u00a0\u22120.999]"),
            ('{value(Q1.1, printed, digits="1")}', "\u22121.0"),
            ("{size(Q1.1, printed)}", "1.000"),
            ('{interval(Q1.1, printed, digits="1")}', "[\u22121.0,\u00a0\u22121.0]"),
            ("{share(Q1.1, printed)}", "\u2212100\u00a0%\u00a0[\u2212100,\u00a0\u2212100]"),
            ("{reduction(Q1.1, printed)}", "100\u00a0%\u00a0[100,\u00a0100]"),
            ("{percent(Q1.1, printed)}", "100\u00a0%"),
            ("{multiple(Q1.2, printed)}", "2\u00a0[2,\u00a02]"),
            ("{runs(Q1.1, printed)}", "1,000"),
            ("{claimed(Q1.1, printed)}", "< 0"),
            ("{count(claims)}, {count(all)}, {count(undecided)}", "5, 1, 1"),
            ('{estimate(Q1.1, printed, part="a less b")}', "\u22121.000\u00a0[\u22121.001,\u00a0\u22120.999]"),
            ('{estimate(pomrl2023/Q1.1, printed, part="^a")}', "\u22121.000\u00a0[\u22121.001,\u00a0\u22120.999]"),
            ("$\\frac{1}{n}$ {x} { holds(Q1.1, printed)}", "$\\frac{1}{n}$ {x} { holds(Q1.1, printed)}"),
            ("$\\frac{1}{2m(t-1)}$", "$\\frac{1}{2m(t-1)}$"),
        ],
    )
    def test_what_they_become(self, lookup: str, rendered: str, tmp_path: Path) -> None:
        assert filled(tmp_path, lookup) == rendered

    def test_a_reduction_negates_the_interval(self, tmp_path: Path) -> None:
        judgement = write_judgements(tmp_path, FOUND).of("printed")["Q1.1"]
        comparison = judgement.decisive.but(estimate=-0.24, lower=-0.31, upper=-0.001)
        table = Judgements({"printed": {"Q1.1": judgement.model_copy(update={"comparisons": (comparison,)})}})
        text = "{share(Q1.1, printed)}, {reduction(Q1.1, printed)}"
        assert fill(text, Results(PAPER, lambda name: (find(name), table)), "p") == (
            "\u221224\u00a0%\u00a0[\u221231,\u00a00], 24\u00a0%\u00a0[0,\u00a031]"
        )

    def test_exact_names_precede_longer_ones(self, tmp_path: Path) -> None:
        judgement = write_judgements(tmp_path, FOUND).of("printed")["Q1.1"]
        longer, exact = (
            judgement.decisive.but(compared=text, estimate=n) for text, n in (("m = 20", 2.0), ("m = 2", 1.0))
        )
        table = Judgements({"printed": {"Q1.1": judgement.model_copy(update={"comparisons": (longer, exact)})}})
        text = '{value(Q1.1, printed, part="m = 2", digits="0")}'
        assert fill(text, Results(PAPER, lambda name: (find(name), table)), "p") == "1"

    def test_advice_names_where_a_learner_loses_more(self, tmp_path: Path) -> None:
        less = [
            ("pooling at γ_eval, forest, spread 0.05", NOT),
            ("POMRL at γ_eval, forest, spread 0.05", NOT),
            ("pooling at γ_eval, forest, spread 0.15", Verdict.UNDECIDED),
            ("POMRL at γ_eval, queue, spread 0.05", HOLDS),
            ("POMRL at γ_eval, garnet, spread 0.05", HOLDS),
        ]
        text = "{no_worse_in(Q1.1, printed)}: {worse_where(Q1.1, printed)} | {unclear_where(Q1.1, printed)}"
        assert fill(text, compared(tmp_path, less), "p") == (
            "queue and garnet: 7\u00a0%\u00a0[5,\u00a010] more than pooling "
            "and 7\u00a0%\u00a0[5,\u00a010] more than POMRL in forest, spread 0.05 | "
            "7\u00a0%\u00a0[5,\u00a010] more than pooling in forest, spread 0.15"
        )
        assert fill(text, compared(tmp_path, less[3:]), "p") == "queue and garnet: none | none"

    def test_advice_refuses_claims_of_another_kind(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=r"Q1\.1: must compare relative losses at γ_eval, got 'a less b'"):
            filled(tmp_path, "{worse_where(Q1.1, printed)}")

    @pytest.mark.parametrize(
        ("lookup", "problem"),
        [
            ("{holds(Q9.9, printed)}", "unknown claim 'Q9.9' under the variant printed"),
            ("{holds(Q1.1, imagined)}", "no judged claims under the variant imagined"),
            ("{nonsense(Q1.1)}", "unknown function 'nonsense'"),
            ('{estimate(Q1.1, printed, part="c")}', "must have one comparison with the words 'c', got 0"),
            ("{gamma_star(Q1.1, printed)}", "has no γ*"),
            ("{estimate(Q1.1)}", "missing 1 required positional argument"),
        ],
    )
    def test_bad_lookups_are_named_with_their_sentence(self, lookup: str, problem: str, tmp_path: Path) -> None:
        with pytest.raises(ConfigError) as error:
            filled(tmp_path, f"It is so. In one place{lookup} it is not. But here.")
        assert problem in str(error.value)
        assert str(error.value).startswith("page.md: ")
        assert str(error.value).endswith("in: In one place it is not.")

    def test_numbers_of_a_sentence_have_equal_runs(self, tmp_path: Path) -> None:
        judgement = write_judgements(tmp_path, FOUND).of("printed")
        fewer = judgement["Q1.2"].decisive.but(runs=500)
        printed = {**judgement, "Q1.2": judgement["Q1.2"].model_copy(update={"comparisons": (fewer,)})}
        table = Results(PAPER, lambda name: (find(name), Judgements({"printed": printed})))
        first, other = "{size(Q1.1, printed)}", "{size(Q1.2, printed)}"
        assert fill(f"It is {first}. Then it is {other}.", table, "p") == "It is 1.000. Then it is 1.000."
        with pytest.raises(ConfigError, match=r"got 500 and 1,000, in: It is from to \."):
            fill(f"It is from {first} to {other}.", table, "p")

    def test_a_turned_sentence_stops_the_build(self, tmp_path: Path) -> None:
        holds = "{holds(Q1.1, printed, repaired, computed)}"
        text = f"It falls{holds}. | And\nmore{{fails(Q1.2, printed)}}{{undecided(Q1.6, printed)}}."
        assert filled(tmp_path, text) == "It falls. | And\nmore."
        turned = {**FOUND, "computed": {**FOUND["computed"], "Q1.1": NOT}}
        with pytest.raises(ConfigError) as error:
            fill(text, results(tmp_path, turned), "page.md")
        message = "page.md: Q1.1 under computed: the sentence needs holds, got does not hold, in: It falls."
        assert str(error.value) == message


class TestAgreement:
    def test_equal_judgements_are_the_published_ones(self, tmp_path: Path) -> None:
        table = write_judgements(tmp_path, FOUND)
        agreement = compare(table, table, [*FOUND])
        assert agreement.is_exact
        assert str(agreement) == f"All 16 verdicts and {agreement.numbers} numbers agree with the published ones."
        assert agreement.numbers == 48

    def test_digits_of_other_processors_agree(self, tmp_path: Path) -> None:
        table = write_judgements(tmp_path, FOUND)
        agreement = compare(changed(table, 1.0 + 1e-10), table, [*FOUND])
        assert str(agreement).endswith("agree with the published ones, 1 of these numbers within 1e-09.")
        agreement = compare(changed(table, 1.0 + 1e-6), table, [*FOUND])
        assert (len(agreement.different), len(agreement.turned)) == (1, 0)
        assert agreement.different[0].startswith("Q1.1 under printed, a less b: -1.000 [")

    def test_differing_and_missing_claims_are_listed(self, tmp_path: Path) -> None:
        table = write_judgements(tmp_path / "a", FOUND)
        other = write_judgements(tmp_path / "b", {**FOUND, "printed": {"Q1.1": NOT, "Q1.2": NOT}})
        turned = compare(other, table, ["printed"]).turned
        assert turned[0] == "Q1.1 under printed: does not hold, published: holds"
        assert "Q1.3 under printed: not judged, published: does not hold" in turned
        assert len(compare(table, other, ["printed"]).turned) == len(turned) == 5


def compared(folder: Path, less: Sequence[tuple[str, Verdict]]) -> Results:
    """Return a claim whose parts compare tied rows with these learners, all with a loss larger by 7 %."""
    judgement = write_judgements(folder, FOUND).of("printed")["Q1.1"]
    numbers = {"estimate": 0.07, "lower": 0.05, "upper": 0.1}
    comparisons = tuple(
        judgement.decisive.but(compared=f"tied rows less {learner}, relative, in pairs", verdict=verdict, **numbers)
        for learner, verdict in less
    )
    table = Judgements({"printed": {"Q1.1": judgement.model_copy(update={"comparisons": comparisons})}})
    return Results(PAPER, lambda name: (find(name), table))


def changed(table: Judgements, factor: float) -> Judgements:
    """Return judgements with another estimate of one claim."""
    first = table.of("printed")["Q1.1"]
    comparison = first.comparisons[0].but(estimate=first.comparisons[0].estimate * factor)
    printed = {**table.of("printed"), "Q1.1": first.model_copy(update={"comparisons": (comparison,)})}
    return Judgements({**table.by_variant, "printed": printed})


class TestPublished:
    """The documents of this checkout are those that the published table of judgements makes."""

    @pytest.mark.parametrize("study", PUBLISHED, ids=lambda study: study.name)
    def test_the_claims_page_has_every_comparison(self, study: Study) -> None:
        with (study.folder / judgements.FILE).open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert {row["claim"] for row in rows} == {claim.id for claim in claims_of(study)}
        page = tables.page(study, study.folder / judgements.FILE).replace("\u2212", "-").replace("\u00a0", " ")
        lines = page.partition("\n## All comparisons\n")[2].splitlines()[3:]
        table_rows = [line.removeprefix("| ").removesuffix(" |").split(" | ") for line in lines]
        expected = Counter(tuple(greek(row[name]) for name in COLUMNS) for row in rows)
        assert Counter((*cells[:3], cells[5].replace(",", "") or "0", cells[6]) for cells in table_rows) == expected
        rows.sort(key=lambda row: [*study.config.variants].index(row["variant"]))
        for cells, row in zip(table_rows, rows, strict=True):
            assert cells[0] == row["claim"]
            assert float(re.findall(r"-?[\d.]+", cells[3])[0]) == pytest.approx(float(row["estimate"]), abs=6e-4)

    def test_broken_estimates_change_the_readme(self, tmp_path: Path) -> None:
        source = (ROOT / "README.md.in").read_text()
        published = judgements.read_published(PAPER)
        repaired = published.of("repaired")
        label = "POMRL less oracle, σ = 0.01"
        comparisons = tuple(
            comparison.but(estimate=2 * comparison.estimate) if label in comparison.compared else comparison
            for comparison in repaired["Q3.4"].comparisons
        )
        broken = repaired["Q3.4"].model_copy(update={"comparisons": comparisons})
        other = Judgements({**published.by_variant, "repaired": {**repaired, "Q3.4": broken}})
        assert fill(source, pages.study_results(PAPER, other), "README.md") != (ROOT / "README.md").read_text()
        turned = repaired["Q2.3"].model_copy(update={"verdict": NOT})
        other = Judgements({**published.by_variant, "repaired": {**repaired, "Q2.3": turned}})
        with pytest.raises(ConfigError, match=r"needs holds, got does not hold, in: .*the best γ grows"):
            fill(source, pages.study_results(PAPER, other), "README.md")

    def test_every_check_demands_a_verdict(self) -> None:
        assert {*lookups.CHECKS.values()} == {*Verdict}
        assert lookups.CHECKS["holds"] is HOLDS

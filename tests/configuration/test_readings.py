"""The family of readings: what each variant changes, and verdicts over a family."""

import re
from collections.abc import Mapping
from functools import cache

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba

from pomrl.configuration.settings import flat_settings, scientific_settings
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.study import find
from pomrl.configuration.sweeps import Setting, sweep
from pomrl.configuration.variants import DEFAULT, Variant
from pomrl.judging import agreement
from pomrl.judging.claim import claims_of
from pomrl.judging.judgements import Judgement, Judgements
from pomrl.judging.study_claims import basis
from pomrl.judging.verdict import LOOKS, Comparison, Verdict
from pomrl.store import signature
from pomrl_studies.pomrl2023 import readings_figure
from pomrl_studies.pomrl2023.choices import combine
from pomrl_studies.pomrl2023.pages import readings as pages_readings
from pomrl_studies.pomrl2023.variants import READINGS

pytestmark = pytest.mark.slow

PAPER = find("pomrl2023")
PAGES = PAPER.folder / "pages"
READINGS_OF = PAPER.family("readings")
SWEEPS = ("task_similarity", "gamma_schedules", "states_20", "initial_similarity")


@cache
def readings() -> dict[str, dict[str, list[Setting]]]:
    """The experiments of each reading, by its name and that of the sweep."""
    return {variant.name: {name: PAPER.settings(name, variant) for name in SWEEPS} for variant in READINGS_OF.variants}


def flat(setting: Setting) -> dict[str, object]:
    return flat_settings(scientific_settings(setting.experiment), setting.experiment.options)


OF_PAPER = [name for name in PAPER.sweeps if not name.startswith("computed_")]
VARIANTS = {variant.name: variant for variant in PAPER.variants}
OF_PRINTED = ("std", "exclusive", "population", "algorithm", "as_printed")


def signatures(sweep_name: str, variant: Variant | None = None, *further: str) -> list[str]:
    return [signature(setting.experiment) for setting in sweep(PUBLISHED, sweep_name, variant, further=further)]


class TestDocument:
    """The page on readings, and the tables beside it."""

    def test_the_table_of_ambiguities_has_every_choice_with_its_setting(self) -> None:
        rows = pd.read_csv(PAGES / "ambiguities.csv", dtype=str).dropna(subset="choice")
        found = [(row["choice"], row["number"], (row["setting"],)) for _, row in rows.iterrows()]
        assert found == [(choice.name, choice.reading, choice.overrides) for choice in READINGS]

    def test_every_claim_of_a_sweep_is_counted_once_under_every_reading(self) -> None:
        counts = pd.read_csv(PAGES / "readings_claims.csv").set_index("claim")
        names = pd.read_csv(PAGES / "readings_counts.csv")["reading"]
        assert sorted(names) == sorted(variant.name for variant in READINGS_OF.variants)
        assert set(counts.sum(axis=1)) == {len(names)}
        table = pages_readings.tables(counts.reset_index(), pd.read_csv(PAGES / "readings_choices.csv"))["claims"]
        assert sorted(re.findall(r"[AIQ]\d?\.\d+", table)) == sorted(counts.index)

    @pytest.mark.parametrize(
        ("counts", "group"),
        [
            ((29, 0, 0, 0), "hold under all"),
            ((1, 0, 0, 28), "hold wherever they are decided"),
            ((0, 28, 1, 0), "do not hold under any"),
            ((0, 1, 0, 28), "do not hold wherever they are decided"),
            ((0, 0, 1, 28), "do not hold wherever they are decided"),
            ((28, 1, 0, 0), "depend on the reading"),
            ((27, 0, 1, 1), "depend on the reading"),
        ],
    )
    def test_the_group_of_a_claim(self, counts: tuple[int, ...], group: str) -> None:
        claims = pd.DataFrame([("Q1.1", *counts)], columns=["claim", "hold", "do not", "no difference", "undecided"])
        choices = pd.read_csv(PAGES / "readings_choices.csv")
        assert f"| {group} | Q1.1 |" in pages_readings.tables(claims, choices)["claims"]


class TestOptions:
    """The variants of the study are the options of the group `reading`."""

    @pytest.mark.parametrize("name", OF_PAPER)
    def test_printed_is_its_option_and_the_choices_that_it_names(self, name: str) -> None:
        chosen = combine([choice for choice in READINGS if choice.name in OF_PRINTED])
        found = signatures(name, VARIANTS["printed"])
        assert found == signatures(name, None, "reading=printed") == signatures(name, chosen)
        assert found != signatures(name, VARIANTS["repaired"]) == signatures(name, None, "reading=repaired")

    def test_computed_is_its_option_with_five_trials_and_the_concentrations_that_stand_for_sigma(self) -> None:
        for estimator in ("oracle", "without_meta", "pomrl", "ada_pomrl", "aggregating"):
            under = sweep(PUBLISHED, "task_similarity", VARIANTS["computed"], further=[f"estimator={estimator}"])
            by_option = signatures("computed_similarity", None, f"estimator={estimator}", "trials=5")
            assert [signature(setting.experiment) for setting in under] == by_option


class TestPublished:
    def test_every_choice_by_itself_changes_its_key_and_nothing_else(self) -> None:
        assert [choice.name for choice in READINGS] == [of.name for of in READINGS_OF.variants if of.is_single]
        for choice in READINGS:
            key, _, value = choice.overrides[0].partition("=")
            changed = 0
            for name, settings in readings()[choice.name].items():
                for setting, default in zip(settings, readings()[PAPER.unchanged][name], strict=True):
                    a, b = flat(setting), flat(default)
                    differing = {part for part in a.keys() | b.keys() if a.get(part) != b.get(part)}
                    assert differing <= {key}, (choice.name, name)
                    changed += bool(differing)
                    assert not differing or str(a[key]) == value
            assert changed > 0 or choice.name == "per_run", choice.name

    def test_schedules_choose_in_each_run_where_a_reading_says_so(self) -> None:
        """The choice `per_run` changes no experiment, but how hindsight schedules are read."""
        registry = claims_of(PAPER)
        choices = {
            variant.name: basis(PAPER, registry, variant).choice
            for variant in READINGS_OF.variants
            if variant.name in (PAPER.unchanged, "per_run", "std")
        }
        assert choices == {PAPER.unchanged: "population", "per_run": "per_run", "std": "population"}

    def test_what_learns_no_prior_keeps_it(self) -> None:
        for setting in readings()["exclusive"]["task_similarity"]:
            prior = flat(setting)["estimator.prior"]
            learns = setting.varied["estimator"] in ("pomrl", "ada_pomrl")
            assert (prior == "exclusive") == learns


def judgement(variant: str, id: str, verdict: Verdict, estimate: float) -> Judgement:
    shown = Comparison(estimate=estimate, below=0.0, verdict=verdict)
    return Judgement(variant=variant, id=id, statement="", verdict=verdict, comparisons=(shown,))


def made(verdicts: Mapping[str, str]) -> Judgements:
    """A letter for each claim: r, n or i."""
    words = {"r": Verdict.HOLDS, "n": Verdict.DOES_NOT_HOLD, "i": Verdict.UNDECIDED}
    return Judgements(
        {
            variant: {f"Q{i}": judgement(variant, f"Q{i}", words[letter], i + 0.25) for i, letter in enumerate(letters)}
            for variant, letters in verdicts.items()
        }
    )


MADE = made({DEFAULT: "rni", "std": "rri", "exclusive": "nni", "fixed": "rii"})
ORDER = ["std", "fixed", DEFAULT, "exclusive"]


class TestVerdicts:
    def test_ranking(self) -> None:
        assert agreement.rank(MADE, MADE.variants) == ORDER
        counts = [[*agreement.counts(MADE.of(name).values()).values()] for name in ORDER]
        assert counts == [[2, 0, 0, 1], [1, 0, 0, 2], [1, 1, 0, 1], [0, 2, 0, 1]]

    def test_changes(self) -> None:
        found = agreement.changes(MADE, DEFAULT, ["std", "exclusive", "fixed"])
        assert [(of.id, of.after.variant, str(of.before.verdict), str(of.after.verdict)) for of in found] == [
            ("Q0", "exclusive", "holds", "does not hold"),
            ("Q1", "std", "does not hold", "holds"),
            ("Q1", "fixed", "does not hold", "undecided"),
        ]
        assert [of.is_turned for of in found] == [True, True, False]

    def test_counts_over_variants(self) -> None:
        found = agreement.over(MADE, MADE.variants)
        assert {id: [of[verdict] for verdict in Verdict] for id, of in found.items()} == {
            "Q0": [3, 1, 0, 0],
            "Q1": [1, 2, 0, 1],
            "Q2": [0, 0, 0, 4],
        }


class TestFigure:
    def test_tiles_have_the_colour_of_the_verdict_and_the_estimate(self) -> None:
        drawing = readings_figure.draw(MADE, MADE.variants)
        (ax,) = drawing.figure.axes
        (tiles,) = ax.collections
        assert [label.get_text() for label in ax.get_xticklabels()] == ORDER
        verdicts = drawing.data.pivot(index="claim", columns="reading", values="verdict")[ORDER]
        assert verdicts.to_numpy().tolist() == [
            [str(MADE.of(name)[id].verdict) for name in ORDER] for id in ("Q0", "Q1", "Q2")
        ]
        tiles.update_scalarmappable()
        expected = [to_rgba(LOOKS[Verdict(verdict)].color) for verdict in verdicts.to_numpy().ravel()]
        np.testing.assert_allclose(np.asarray(tiles.get_facecolor()), expected)
        assert [text.get_text() for text in ax.texts] == ["0.25"] * 4 + ["1.25"] * 4 + ["2.25"] * 4

"""The families of readings and environments: what each variant changes, and verdicts over a family."""

import shutil
from collections.abc import Mapping
from functools import cache
from math import nan
from pathlib import Path

import numpy as np
import pytest
import yaml
from matplotlib.colors import to_rgba
from tests.support.commands import commands
from tests.support.settings import ROOT

from pomrl import store
from pomrl.commands import reproduce
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.settings import flat_settings, scientific_settings
from pomrl.configuration.study import find
from pomrl.configuration.sweeps import Setting
from pomrl.configuration.variants import DEFAULT, Job, Variant
from pomrl.configuration.variants import family as described
from pomrl.drawing.files import Sidecar, save
from pomrl.judging import over_variants
from pomrl.judging.basis import Basis
from pomrl.judging.claims_of_study import claims_of
from pomrl.judging.claims_of_variants import basis
from pomrl.judging.judgements import Comparison, Judgement, Judgements
from pomrl.judging.verdict import LOOKS, Verdict
from pomrl.report.figure_files import FigureFiles
from pomrl.results.comparison import differences
from pomrl.results.intervals import Interval
from pomrl.studies.pomrl import readings_figure

pytestmark = pytest.mark.slow

PAPER = find("pomrl")
READINGS, ENVIRONMENTS = PAPER.family("readings"), PAPER.family("environments")
ENVIRONMENT = "task_distribution.mean_seed"
"""The key in which environments differ."""

CHOICES = {
    "std": {"of": "A1", "set": "measure=std"},
    "exclusive": {"of": "A2", "set": "prior=exclusive", "estimator": ["pomrl"]},
    "bound": {"of": "E4", "set": "mixing=bound"},
    "optimal": {"of": "E4", "set": "mixing=optimal"},
}


@cache
def readings() -> dict[str, dict[str, list[Setting]]]:
    """The experiments of each reading, by its name and that of the sweep."""
    return {
        variant.name: {name: PAPER.settings(name, variant, READINGS) for name in READINGS.sweeps}
        for variant in READINGS.variants
    }


@cache
def environments() -> list[Basis]:
    registry = claims_of(PAPER)
    return [basis(PAPER, registry, variant, ENVIRONMENTS) for variant in ENVIRONMENTS.variants]


def flat(setting: Setting) -> dict[str, object]:
    return flat_settings(scientific_settings(setting.experiment), setting.experiment.options)


def overrides(variant: Variant, options: Mapping[str, str]) -> list[str]:
    return list(variant.change(Job("", (), options)))


class TestFamily:
    def test_has_the_default_each_choice_all_combinations_and_what_belongs_together(self) -> None:
        found = described(
            "own",
            {"choices": CHOICES, "product": ["A1", "E4"], "together": {"both": ["std", "exclusive"]}, "sweeps": []},
        )
        names = [variant.name for variant in found.variants]
        assert names[0] == DEFAULT
        assert sorted(names[1:]) == [
            "both",
            "bound",
            "exclusive",
            "optimal",
            "std",
            "std + bound",
            "std + optimal",
        ]
        assert [variant.name for variant in found.variants if variant.is_single] == [*CHOICES]

    def test_a_choice_that_does_not_exist(self) -> None:
        said = r"^variants/own\.yaml: there is no choice exclusiv; there are std, exclusive"
        with pytest.raises(ConfigError, match=said):
            described("own", {"choices": CHOICES, "together": {"both": ["exclusiv"]}})

    def test_an_unknown_key(self) -> None:
        with pytest.raises(ConfigError, match=r"^variants/own\.yaml: produkt=\[.*: unknown key"):
            described("own", {"choices": CHOICES, "produkt": ["A1"]})

    def test_a_choice_concerns_the_options_that_it_names(self) -> None:
        found = described("own", {"choices": CHOICES, "sweeps": []})
        exclusive = {variant.name: variant for variant in found.variants}["exclusive"]
        assert overrides(exclusive, {"estimator": "pomrl"}) == ["prior=exclusive"]
        assert overrides(exclusive, {"estimator": "oracle"}) == []

    def test_values_of_a_key_are_a_variant_each(self) -> None:
        found = described("own", {"values": {"seed": {"range": 3}}, "set": {"sigma": 0.1}, "sample": True})
        assert [variant.name for variant in found.variants] == ["seed=0", "seed=1", "seed=2"]
        assert sorted(overrides(found.variants[2], {})) == ["seed=2", "sigma=0.1"]
        assert found.is_sample


class TestPublished:
    def test_the_default_reading_is_what_is_published(self) -> None:
        assert readings()[PAPER.unchanged].keys() == READINGS.sweeps.keys()
        for name, settings in readings()[PAPER.unchanged].items():
            expected = PAPER.settings(name)
            assert [setting.varied for setting in settings] == [setting.varied for setting in expected]
            signatures = [store.signature(setting.experiment) for setting in settings]
            assert signatures == [store.signature(setting.experiment) for setting in expected]

    def test_every_choice_by_itself_changes_its_key_and_nothing_else(self) -> None:
        for variant in READINGS.variants:
            if not variant.is_single:
                continue
            key, _, value = variant.choices[0].overrides[0].partition("=")
            changed = 0
            for name, settings in readings()[variant.name].items():
                for setting, default in zip(settings, readings()[PAPER.unchanged][name], strict=True):
                    a, b = flat(setting), flat(default)
                    differing = {part for part in a.keys() | b.keys() if a.get(part) != b.get(part)}
                    assert differing <= {key}, (variant.name, name)
                    changed += bool(differing)
                    assert not differing or str(a[key]) == value
            assert changed > 0 or variant.name == "per_run", variant.name

    def test_schedules_choose_in_each_run_where_a_reading_says_so(self) -> None:
        """The choice `per_run` changes no experiment, but how hindsight schedules are read."""
        registry = claims_of(PAPER)
        choices = {
            variant.name: basis(PAPER, registry, variant, READINGS).choice
            for variant in READINGS.variants
            if variant.name in (PAPER.unchanged, "per_run", "std")
        }
        assert choices == {PAPER.unchanged: "population", "per_run": "per_run", "std": "population"}

    def test_what_learns_no_prior_keeps_it(self) -> None:
        for setting in readings()["exclusive"]["task_similarity"]:
            prior = flat(setting)["estimator.prior"]
            learns = setting.varied["estimator"] in ("pomrl", "ada_pomrl")
            assert (prior == "exclusive") == learns

    def test_what_a_sweep_varies_it_varies(self) -> None:
        starts = [flat(setting)["estimator.sigma_1"] for setting in readings()["sigma_1_0.1"]["initial_similarity"]]
        assert starts == [0.01, 0.1, 0.5]

    def test_the_command_runs_the_family(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """The family of readings, of one sweep with two runs, in a study that has nothing else."""
        monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "outputs"))
        few = yaml.safe_load((PAPER.folder / "variants" / "readings.yaml").read_text())
        few = {key: value for key, value in few.items() if key != "budget"} | {"sweeps": ["initial_similarity"]}
        sweep = yaml.safe_load((PAPER.folder / "sweeps" / "initial_similarity.yaml").read_text())
        sweep |= {"runs": 2, "T": 3}
        files = {
            "study.yaml": "title: Readings\n",
            "variants/readings.yaml": yaml.safe_dump(few, sort_keys=False),
            "sweeps/initial_similarity.yaml": f"# @package _global_\n{yaml.safe_dump(sweep, sort_keys=False)}",
        }
        for name, text in files.items():
            (tmp_path / "few_readings" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "few_readings" / name).write_text(text)
        reproduce.stages(find(str(tmp_path / "few_readings")), None, "readings")["variants"]()
        found = [found.flat_settings() for found in store.all_experiments()]
        assert len(found) > 50
        assert {of["estimator.prior"] for of in found} == {"inclusive", "exclusive"}
        assert {of["task_distribution.measure"] for of in found} == {"variance", "std"}
        assert {of["T"] for of in found} == {3}

    def test_environments_differ_in_their_mean_model_alone(self) -> None:
        found = [on.settings["task_similarity"] for on in environments()]
        assert len(found) == 50
        assert [list(setting.varied) for setting in found[0]] == [["sigma", "estimator"]] * 15
        for of_setting in zip(*found, strict=True):
            assert set(differences([flat(setting) for setting in of_setting])) == {ENVIRONMENT}
            assert len({setting.experiment.problem for setting in of_setting}) == 50
        for settings in found:
            problems = {setting.varied["sigma"]: setting.experiment.problem for setting in settings}
            assert list(problems) == [0.01, 0.025, 0.047]
            assert all(setting.experiment.problem == problems[setting.varied["sigma"]] for setting in settings)

    def test_in_an_environment_those_claims_are_judged_whose_settings_it_has(self) -> None:
        of_one = environments()[0]
        of_similarity = [f"Q3.{number}" for number in range(1, 10)]
        assert {claim.id for claim in of_one.claims} == {
            *(f"Q1.{number}" for number in range(1, 8)),
            *(f"Q2.{number}" for number in (1, 2, 3, 4, 6)),
            *of_similarity,
            "Q4.5",
            "A.1",
            "A.2",
        }
        at_one_sigma = [setting for setting in of_one.settings["task_similarity"] if setting.varied["sigma"] == 0.01]
        without = {claim.id for claim in Basis("", {"task_similarity": at_one_sigma}, of_one.registry).claims}
        assert {claim.id for claim in of_one.claims} - without == {*of_similarity, "A.2"}


def judgement(variant: str, id: str, verdict: Verdict, estimate: float) -> Judgement:
    shown = Comparison(
        compared="a less b",
        topic="",
        estimate=estimate,
        lower=estimate - 1.0,
        upper=estimate + 1.0,
        below=0.0,
        runs=1000,
        verdict=verdict,
        no_difference=False,
    )
    return Judgement(
        study="own",
        variant=variant,
        id=id,
        statement="",
        title="",
        where="",
        figures=(),
        is_main=False,
        selected_on=False,
        verdict=verdict,
        reason="",
        note="",
        runs=1000,
        promised=100,
        runs_of_promised=100,
        at_promised_runs=None,
        by_itself=None,
        fixed=Interval(nan, nan, nan),
        power=None,
        true_in_environments=None,
        environments=0,
        revision=None,
        comparisons=(shown,),
        decisive=shown,
    )


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
        assert over_variants.ranked(MADE, MADE.variants) == ORDER
        counts = [over_variants.counts(MADE.of(name).values()) for name in ORDER]
        assert [of[Verdict.HOLDS] for of in counts] == [2, 1, 1, 0]
        assert [of[Verdict.DOES_NOT_HOLD] for of in counts] == [0, 0, 1, 2]
        assert [of[Verdict.UNDECIDED] for of in counts] == [1, 2, 1, 1]

    def test_changes(self) -> None:
        found = over_variants.changes(MADE, DEFAULT, ["std", "exclusive", "fixed"])
        assert [(of.id, of.after.variant, str(of.before.verdict), str(of.after.verdict)) for of in found] == [
            ("Q0", "exclusive", "holds", "does not hold"),
            ("Q1", "std", "does not hold", "holds"),
            ("Q1", "fixed", "does not hold", "undecided"),
        ]
        assert [of.is_turned for of in found] == [True, True, False]

    def test_opposite_verdicts(self) -> None:
        found = over_variants.opposite(MADE, DEFAULT, ["std", "exclusive", "fixed"])
        assert found == {"Q0": ["exclusive"], "Q1": ["std"]}

    def test_counts_over_variants(self) -> None:
        found = over_variants.over(MADE, MADE.variants)
        assert {id: [of[verdict] for verdict in over_variants.ORDER] for id, of in found.items()} == {
            "Q0": [3, 1, 0],
            "Q1": [1, 2, 1],
            "Q2": [0, 0, 4],
        }

    @pytest.mark.parametrize("name", ["readings"])
    def test_with_nothing_stored_one_line_says_what_to_run(self, name: str, tmp_path: Path, simulated: Path) -> None:
        outputs = shutil.copytree(simulated, tmp_path / "outputs")
        with commands(ROOT, POMRL_OUTPUTS=str(outputs)) as pomrl:
            status, out, err = pomrl("claims", "pomrl", "--variants", name)
        assert (status, out) == (1, "")
        remedy = f"pomrl reproduce pomrl --variants {name} computes it"
        assert err == f"pomrl: nothing is stored that its claims are about; {remedy}\n"


class TestFigure:
    def test_its_picture_has_a_text_for_readers_who_do_not_see_it(self, tmp_path: Path) -> None:
        save(readings_figure.draw(MADE, MADE.variants), tmp_path, "readings", Sidecar("readings"))
        assert FigureFiles("readings", tmp_path, word="pomrl").alternative.endswith(
            "The values are in the table below."
        )

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

    def test_same_judgements_same_bytes(self, tmp_path: Path) -> None:
        once, again = (
            save(readings_figure.draw(MADE, MADE.variants), tmp_path / name, "readings", Sidecar("readings"))
            for name in ("once", "again")
        )
        assert [path.read_bytes() for path in once] == [path.read_bytes() for path in again]

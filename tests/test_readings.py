"""The family of readings: what each changes, and verdicts over a family."""

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba
from tests.settings import CONF

from pomrl import store
from pomrl.claims import robustness
from pomrl.judging.true_shares import ENVIRONMENT, bases
from pomrl.judging.basis import Basis
from pomrl.judging.verdict import LOOKS, Verdict
from pomrl.commands import claims, run
from pomrl.configuration import studies
from pomrl.configuration.variants import DEFAULT, Reading
from pomrl.configuration.variants import family as described
from pomrl.configuration.settings import flat_settings, scientific_settings
from pomrl.configuration.sources import PUBLISHED
from pomrl.figures import readings as figure
from pomrl.drawing.files import Sidecar, save
from pomrl.results.comparison import differences

CHOICES = {
    "std": {"of": "A1", "set": "measure=std"},
    "exclusive": {"of": "A2", "set": "prior=exclusive", "estimator": ["pomrl"]},
    "bound": {"of": "E4", "set": "mixing=bound"},
    "optimal": {"of": "E4", "set": "mixing=optimal"},
}


@cache
def readings() -> dict[Reading, dict[str, list[studies.Setting]]]:
    return studies.readings(PUBLISHED)


def named(name: str) -> dict[str, list[studies.Setting]]:
    (found,) = (settings for reading, settings in readings().items() if reading.name == name)
    return found


def flat(setting: studies.Setting) -> dict[str, object]:
    return flat_settings(scientific_settings(setting.experiment), setting.experiment.options)


class TestFamily:
    def test_has_the_default_each_choice_all_combinations_and_what_belongs_together(self) -> None:
        found = described(
            {"choices": CHOICES, "product": ["A1", "E4"], "together": [["std", "exclusive"]], "sweeps": []}
        )
        names = [reading.name for reading in found.readings]
        assert names[0] == DEFAULT
        assert sorted(names[1:]) == [
            "bound",
            "exclusive",
            "optimal",
            "std",
            "std + bound",
            "std + exclusive",
            "std + optimal",
        ]

    def test_a_choice_that_does_not_exist(self) -> None:
        with pytest.raises(ValueError, match="there is no choice exclusiv; there are std, exclusive"):
            described({"choices": CHOICES, "product": [], "together": [["exclusiv"]], "sweeps": []})

    def test_a_choice_concerns_the_options_that_it_names(self) -> None:
        found = described({"choices": CHOICES, "product": [], "together": [], "sweeps": []})
        exclusive = {reading.name: reading for reading in found.readings}["exclusive"]
        assert exclusive.overrides({"estimator": "pomrl"}) == ["prior=exclusive"]
        assert exclusive.overrides({"estimator": "oracle"}) == []


class TestPublished:
    def test_the_default_reading_is_what_is_published(self) -> None:
        for name, settings in named(DEFAULT).items():
            expected = studies.sweep(PUBLISHED, name)
            assert [setting.varied for setting in settings] == [setting.varied for setting in expected]
            signatures = [store.signature(setting.experiment) for setting in settings]
            assert signatures == [store.signature(setting.experiment) for setting in expected]

    def test_every_choice_by_itself_changes_its_key_and_nothing_else(self) -> None:
        for reading, sweeps in readings().items():
            if len(reading.choices) != 1:
                continue
            key, _, value = reading.choices[0].overrides[0].partition("=")
            changed = 0
            for name, settings in sweeps.items():
                for setting, default in zip(settings, named(DEFAULT)[name], strict=True):
                    a, b = flat(setting), flat(default)
                    differing = {part for part in a.keys() | b.keys() if a.get(part) != b.get(part)}
                    assert differing <= {key}, (reading.name, name)
                    changed += bool(differing)
                    assert not differing or str(a[key]) == value
            assert changed > 0 or reading.name == "per_run", reading.name

    def test_what_learns_no_prior_keeps_it(self) -> None:
        for setting in named("exclusive")["task_similarity"]:
            prior = flat(setting)["estimator.prior"]
            learns = setting.varied["estimator"] in ("pomrl", "ada_pomrl")
            assert (prior == "exclusive") == learns

    def test_what_a_sweep_varies_it_varies(self) -> None:
        starts = [flat(setting)["estimator.sigma_1"] for setting in named("sigma_1_0.1")["initial_similarity"]]
        assert starts == [0.01, 0.1, 0.5]

    def test_the_command_runs_the_family(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
        monkeypatch.setenv("HYDRA_FULL_ERROR", "0")
        whole = (CONF / "experiment" / "readings.yaml").read_text()
        start, _, end_of_list = whole.partition("- task_similarity\n")
        few = f"{start}- initial_similarity\n{end_of_list[end_of_list.index('      choices:') :]}"
        (tmp_path / "own" / "experiment").mkdir(parents=True)
        (tmp_path / "own" / "experiment" / "few_readings.yaml").write_text(few)
        arguments = ["--config-dir", str(tmp_path / "own"), "experiment=few_readings", "runs=2", "T=3"]
        monkeypatch.setattr(sys, "argv", ["run", *arguments])
        with pytest.raises(SystemExit) as end:
            run.main()
        assert end.value.code == 0
        estimators = [found.flat_settings() for found in store.all_experiments()]
        assert len(estimators) > 50
        assert {of["estimator.prior"] for of in estimators} == {"inclusive", "exclusive"}
        assert {of["task_distribution.measure"] for of in estimators} == {"variance", "std"}
        assert {of["T"] for of in estimators} == {3}

    def test_environments_differ_in_their_mean_model_alone(self) -> None:
        found = [basis.settings["task_similarity"] for basis in bases(studies.sweep(PUBLISHED, "environments"))]
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
        basis = bases(studies.sweep(PUBLISHED, "environments"))[0]
        of_similarity = [f"Q3.{number}" for number in range(1, 6)]
        assert [claim.id for claim in basis.claims] == [
            *(f"Q1.{number}" for number in range(1, 7)),
            *(f"Q2.{number}" for number in range(1, 5)),
            *of_similarity,
            "Q4.5",
            "A.1",
            "A.2",
        ]
        at_one_sigma = [setting for setting in basis.settings["task_similarity"] if setting.varied["sigma"] == 0.01]
        without = {claim.id for claim in Basis("", {"task_similarity": at_one_sigma}).claims}
        assert {claim.id for claim in basis.claims} - without == {*of_similarity, "A.2"}


def make_matrix(verdicts: dict[str, str]) -> pd.DataFrame:
    """A letter for each claim: r, n or i."""
    words = {"r": "reproduced", "n": "not reproduced", "i": "undecided"}
    rows = [
        {"reading": reading, "claim": f"Q{i}", "verdict": words[letter]} | {"estimate": i + 0.25, "runs": 1000}
        for reading, letters in verdicts.items()
        for i, letter in enumerate(letters)
    ]
    return pd.DataFrame(rows)


MATRIX = make_matrix({DEFAULT: "rni", "std": "rri", "exclusive": "nni", "fixed": "rii"})


class TestVerdicts:
    def test_ranking(self) -> None:
        ranking = robustness.ranking(MATRIX)
        assert ranking["reading"].tolist() == ["std", "fixed", DEFAULT, "exclusive"]
        assert ranking["reproduced"].tolist() == [2, 1, 1, 0]
        assert ranking["not reproduced"].tolist() == [0, 0, 1, 2]

    def test_effects(self) -> None:
        effects = robustness.effects(MATRIX, ["std", "exclusive", "fixed"])
        assert effects.to_numpy().tolist() == [
            ["Q0", "exclusive", "reproduced", "not reproduced"],
            ["Q1", "std", "not reproduced", "reproduced"],
            ["Q1", "fixed", "not reproduced", "undecided"],
        ]

    def test_counts_over_readings(self) -> None:
        assert robustness.over_readings(MATRIX).to_numpy().tolist() == [
            ["Q0", 3, 1, 0],
            ["Q1", 1, 2, 1],
            ["Q2", 0, 0, 4],
        ]

    def test_compact(self) -> None:
        assert robustness.compact(MATRIX).to_numpy().tolist() == [
            ["Q0", "+", "+", "+", "-"],
            ["Q1", "+", ".", "-", "-"],
            ["Q2", ".", ".", ".", "."],
        ]

    @pytest.mark.parametrize("name", studies.FAMILIES)
    def test_with_nothing_stored_one_line_says_what_to_run(
        self, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
        monkeypatch.setattr(sys, "argv", ["claims", f"--{name}"])
        monkeypatch.setattr(
            claims, "_parallel", lambda function, *of: [function(*each) for each in zip(*of, strict=True)]
        )
        with pytest.raises(SystemExit) as end:
            claims.main()
        assert end.value.code == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err == f"{name} are not stored; to compute them: python -m src.run experiment={name}\n"


class TestFigure:
    def test_tiles_have_the_colour_of_the_verdict_and_the_estimate(self) -> None:
        (ax,) = figure.draw(MATRIX).figure.axes
        (tiles,) = ax.collections
        order = ["std", "fixed", DEFAULT, "exclusive"]
        assert [label.get_text() for label in ax.get_xticklabels()] == order
        verdicts = MATRIX.pivot(index="claim", columns="reading", values="verdict")[order]
        tiles.update_scalarmappable()
        expected = [to_rgba(LOOKS[Verdict(verdict)].color) for verdict in verdicts.to_numpy().ravel()]
        np.testing.assert_allclose(np.asarray(tiles.get_facecolor()), expected)
        assert [text.get_text() for text in ax.texts] == ["0.25"] * 4 + ["1.25"] * 4 + ["2.25"] * 4

    def test_same_matrix_same_bytes(self, tmp_path: Path) -> None:
        once, again = (
            save(figure.draw(MATRIX), tmp_path / name, "readings", Sidecar("readings")) for name in ("once", "again")
        )
        assert [path.read_bytes() for path in once] == [path.read_bytes() for path in again]

"""The family of readings: what each variant changes, and verdicts over a family."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from matplotlib.colors import to_rgba

import pomrl
from pomrl.configuration.composed import GROUPS, ConfigError
from pomrl.configuration.composition import Composer
from pomrl.configuration.settings import flat_settings, scientific_settings
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.studies import find
from pomrl.configuration.sweeps import Setting, experiment, sweep
from pomrl.configuration.variants import DEFAULT, Variant
from pomrl.judging import agreement
from pomrl.judging.claim import claims_of
from pomrl.judging.comparison_rows import Comparison
from pomrl.judging.judgements import Judgement, Judgements
from pomrl.judging.study_claims import basis
from pomrl.results.comparison import nearest
from pomrl.results.selection import resolve
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.tasks.random_chains import Dirichlet
from pomrl.store import signature
from pomrl_studies.pomrl2023 import readings_figure
from pomrl_studies.pomrl2023.choices import combine
from pomrl_studies.pomrl2023.pages import readings as pages_readings
from pomrl_studies.pomrl2023.variants import READINGS
from verdicts.parts import LOOKS, Verdict

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


OF_PAPER = [name for name in PAPER.sweeps if name != "uniform_prior"]  # its file chooses a reading
VARIANTS = {variant.name: variant for variant in PAPER.variants}
OF_PRINTED = ("std", "exclusive", "population", "algorithm", "as_printed")


def signatures(sweep_name: str, variant: Variant | None = None, *overrides: str) -> list[str]:
    return [signature(setting.experiment) for setting in sweep(PUBLISHED, sweep_name, variant, further=overrides)]


class TestDocument:
    """The page on readings, and the tables beside it."""

    def test_the_table_of_ambiguities_has_every_choice(self) -> None:
        rows = pd.read_csv(PAGES / "ambiguities.csv", dtype=str).dropna(subset="choice")
        actual = [(row["choice"], row["number"], (row["setting"],)) for _, row in rows.iterrows()]
        assert actual == [(choice.name, choice.number, choice.overrides) for choice in READINGS]

    def test_every_claim_is_counted_once_per_reading(self) -> None:
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
    """The variants of the study are the options of the group `reading`, and nothing else."""

    @pytest.mark.parametrize("reading", VARIANTS)
    @pytest.mark.parametrize("name", OF_PAPER)
    def test_published_columns_are_computed_by_their_reading(self, name: str, reading: str) -> None:
        assert signatures(name, VARIANTS[reading]) == signatures(name, None, f"reading={reading}")

    @pytest.mark.parametrize("name", OF_PAPER)
    def test_printed_combines_its_named_choices(self, name: str) -> None:
        choices = combine([choice for choice in READINGS if choice.name in OF_PRINTED])
        assert signatures(name, VARIANTS["printed"]) == signatures(name, choices) != signatures(name)


OPTIONS = [(group, path.stem) for group in GROUPS for path in PUBLISHED.options(group)]
"""Every option of every group, of all shipped studies."""


def merged_values(group: str, option: str, reading: str) -> tuple[dict[str, object], bool]:
    """Merge the files of an option and its defaults in order; return also whether the reading has one of them."""
    path = next(path for path in PUBLISHED.options(group) if path.stem == option)
    content = yaml.safe_load(path.read_text())
    values: dict[str, object] = {}
    is_reached = False
    for default in content.pop("defaults", ["_self_"]):
        if default == "_self_":
            values |= content
        elif isinstance(default, str):
            inherited, inherits = merged_values(group, default, reading)
            values, is_reached = values | inherited, is_reached or inherits
        else:
            (key,) = default
            folder = key.removeprefix("optional /").partition("@")[0]
            for file in (file for conf in PUBLISHED.folders if (file := conf / folder / f"{reading}.yaml").is_file()):
                values, is_reached = values | (yaml.safe_load(file.read_text()) or {}), True
    return values, is_reached


class TestInheritance:
    """A reading follows the defaults of options, and what it does not reach is named."""

    @pytest.mark.parametrize("reading", ["printed", "computed"])
    @pytest.mark.parametrize(("group", "option"), OPTIONS)
    def test_keys_follow_or_are_noted(self, group: str, option: str, reading: str) -> None:
        composer = Composer.from_sources(PUBLISHED)
        composed = composer.compose([f"reading={reading}", f"{group}={option}"])
        values, is_reached = merged_values(group, option, reading)
        numbers = {key: value for key, value in values.items() if "$" not in str(value) and key != "task_distribution"}
        if "_target_" in values:
            assert {key: composed.values[group][key] for key in numbers} == numbers
        line = f"reading={reading} has no keys for {group}={option}, which keeps its own"
        is_of_reading = any(any(folder.glob(f"reading/{group}/*/{reading}.yaml")) for folder in PUBLISHED.folders)
        assert (line in composed.notes) == (is_of_reading and not is_reached)

    def test_options_inherit_keys_of_their_parent(self, tmp_path: Path) -> None:
        (tmp_path / "estimator").mkdir()
        (tmp_path / "estimator" / "mine.yaml").write_text("defaults: [ada_pomrl, _self_]\nv2: 0.5\n")
        (tmp_path / "estimator" / "alone.yaml").write_text(
            "_target_: pomrl.science.estimators.pomrl.RegularisedLeastSquares\nmixing: 0.5\n"
        )
        composer = Composer.from_sources(PUBLISHED.with_options(tmp_path))
        mine = composer.compose(["reading=computed", "estimator=mine"])
        inherited = {"prior": "exclusive", "variance": "population", "lag": 1, "v2": 0.5}
        assert {key: mine.values["estimator"][key] for key in inherited} == inherited
        assert not mine.notes
        standalone = composer.compose(["reading=computed", "estimator=alone"])
        assert standalone.notes == ("reading=computed has no keys for estimator=alone, which keeps its own",)

    def test_defaults_give_an_option_its_own_keys(self, tmp_path: Path) -> None:
        """The line of conf/README.md."""
        (line,) = re.findall(r"defaults: \[_self_, .*\]", (PUBLISHED.folder / "README.md").read_text())
        (tmp_path / "estimator").mkdir()
        (tmp_path / "reading" / "estimator" / "mine").mkdir(parents=True)
        (tmp_path / "reading" / "estimator" / "mine" / "printed.yaml").write_text("mixing: 0.25\n")
        target = "_target_: pomrl.science.estimators.pomrl.RegularisedLeastSquares"
        (tmp_path / "estimator" / "mine.yaml").write_text(f"{line}\n{target}\nmixing: 0.5\n")
        composer = Composer.from_sources(PUBLISHED.with_options(tmp_path))
        weights = [composer.compose([f"reading={name}", "estimator=mine"]) for name in ("printed", "repaired")]
        assert [composed.values["estimator"]["mixing"] for composed in weights] == [0.25, 0.5]
        assert not weights[0].notes

    def test_keys_of_readings_cannot_be_hidden(self, tmp_path: Path) -> None:
        (tmp_path / "reading" / "estimator" / "pomrl").mkdir(parents=True)
        (tmp_path / "reading" / "estimator" / "pomrl" / "printed.yaml").write_text("index: text\n")
        with pytest.raises(ConfigError, match="reading/estimator/pomrl=printed exists already"):
            PUBLISHED.with_options(tmp_path)

    @pytest.mark.parametrize(
        ("override", "message"),
        [
            ("reading=null", "reading=null: a group must have the name of an option"),
            ("~reading", "~reading: a group must have the name of an option"),
            ("reading=imprinted", "did you mean printed?"),
        ],
    )
    def test_unknown_readings_are_one_line(self, override: str, message: str) -> None:
        with pytest.raises(ConfigError) as error:
            Composer.from_sources(PUBLISHED).compose([override])
        assert message in str(error.value)
        assert "\n" not in str(error.value)

    def test_python_warns_of_components_outside_the_reading(self, empty_outputs: Path) -> None:
        with pytest.warns(UserWarning, match="reading=printed has no keys for estimator=RegularisedLeastSquares"):
            pomrl.run(reading="printed", estimator=RegularisedLeastSquares(mixing=0.5), runs=1, T=1)


def test_sigma_names_concentrations_of_the_notebook() -> None:
    problem = experiment(PUBLISHED, ["reading=computed", "sigma=0.047"]).problem
    tasks = problem.task_distribution
    assert isinstance(tasks, Dirichlet)
    mean = tasks.draw_mean(1, 0, problem.S, problem.A, 0.047)
    assert tasks.concentration(mean) == pytest.approx(0.375 * 10 * (1 + 0.015 * 10))
    with pytest.raises(ValueError, match=r"sigma must be 0, 0.01, 0.025, 0.047 with .*measure=notebook, got 0.02"):
        tasks.draw_mean(1, 0, problem.S, problem.A, 0.02)


def test_shared_experiments_have_a_row_per_reading(empty_outputs: Path) -> None:
    settings = {"estimator": "without_meta", "task_distribution__measure": "std", "T": 2}
    pomrl.sweep(**settings, reading="printed", runs=2)
    assert pomrl.table(reading=["printed", "repaired"], **settings)["reading"].tolist() == ["printed", "repaired"]


def test_learners_are_compared_between_readings(empty_outputs: Path) -> None:
    """More keys of ada-POMRL differ between the readings than between it and no meta-learning."""
    sides = []
    for name in ("computed", "printed"):
        pomrl.sweep(reading=name, estimator=["without_meta", "ada_pomrl"], T=2, runs=2)
        matches, _ = resolve([f"reading={name}", "estimator=without_meta,ada_pomrl", "T=2"])
        sides.append([match.result(name) for match in matches])
    pairs = nearest(*sides)
    assert [(a.settings["estimator"], b.settings["estimator"]) for a, b in pairs] == [
        ("without_meta", "without_meta"),
        ("ada_pomrl", "ada_pomrl"),
    ]


def test_tables_of_readings_hide_dependent_columns(empty_outputs: Path) -> None:
    pomrl.sweep(reading=["printed", "repaired", "computed"], sigma=[0.01, 0.025], runs=2, T=2)
    table = pomrl.table(reading=["printed", "repaired", "computed"], sigma=[0.01, 0.025], T=2)
    assert [name for name in map(str, table) if not name.startswith(("mean", "iqm", "median", "runs"))] == [
        "reading",
        "sigma",
    ]
    assert len(table) == 6


class TestPublished:
    def test_single_choices_change_only_their_key(self) -> None:
        assert [choice.name for choice in READINGS] == [
            reading.name for reading in READINGS_OF.variants if reading.is_single
        ]
        for choice in READINGS:
            key, _, value = choice.overrides[0].partition("=")
            changed = 0
            for name, settings in readings()[choice.name].items():
                for setting, default in zip(settings, readings()[PAPER.unchanged][name], strict=True):
                    a, b = flat(setting), flat(default)
                    differing = {
                        changed_key for changed_key in a.keys() | b.keys() if a.get(changed_key) != b.get(changed_key)
                    }
                    assert differing <= {key}, (choice.name, name)
                    changed += bool(differing)
                    assert not differing or str(a[key]) == value
            assert changed > 0 or choice.name == "per_run", choice.name

    def test_per_run_changes_the_choice_of_schedules(self) -> None:
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
    comparison = Comparison(estimate=estimate, below=0.0, verdict=verdict)
    return Judgement(variant=variant, id=id, statement="", verdict=verdict, comparisons=(comparison,))


def letter_judgements(verdicts: Mapping[str, str]) -> Judgements:
    """A letter for each claim: r, n or i."""
    verdict_letters = {"r": Verdict.HOLDS, "n": Verdict.DOES_NOT_HOLD, "i": Verdict.UNDECIDED}
    return Judgements(
        {
            variant: {
                f"Q{i}": judgement(variant, f"Q{i}", verdict_letters[letter], i + 0.25)
                for i, letter in enumerate(letters)
            }
            for variant, letters in verdicts.items()
        }
    )


MADE = letter_judgements({DEFAULT: "rni", "std": "rri", "exclusive": "nni", "fixed": "rii"})
ORDER = ["std", "fixed", DEFAULT, "exclusive"]


class TestVerdicts:
    def test_ranking(self) -> None:
        assert agreement.rank(MADE, MADE.variants) == ORDER
        counts = [[*agreement.counts(MADE.of(name).values()).values()] for name in ORDER]
        assert counts == [[2, 0, 0, 1], [1, 0, 0, 2], [1, 1, 0, 1], [0, 2, 0, 1]]

    def test_changes(self) -> None:
        actual = agreement.changes(MADE, DEFAULT, ["std", "exclusive", "fixed"])
        assert [
            (result.id, result.after.variant, str(result.before.verdict), str(result.after.verdict))
            for result in actual
        ] == [
            ("Q0", "exclusive", "holds", "does not hold"),
            ("Q1", "std", "does not hold", "holds"),
            ("Q1", "fixed", "does not hold", "undecided"),
        ]
        assert [result.is_turned for result in actual] == [True, True, False]

    def test_counts_over_variants(self) -> None:
        actual = agreement.over(MADE, MADE.variants)
        assert {id: [result[verdict] for verdict in Verdict] for id, result in actual.items()} == {
            "Q0": [3, 1, 0, 0],
            "Q1": [1, 2, 0, 1],
            "Q2": [0, 0, 0, 4],
        }


class TestFigure:
    def test_tiles_show_verdicts_and_estimates(self) -> None:
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

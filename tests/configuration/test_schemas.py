"""The JSON schemas of `conf/` for editors are those of the classes, and refuse what these refuse."""

import json
from typing import Any

import pytest
import yaml
from docs.build import schemas
from jsonschema import Draft202012Validator
from tests.support.settings import CONF, OPTIONS

from pomrl.configuration.sources import PUBLISHED


def errors(group: str, values: Any) -> list[object]:
    schema = json.loads((schemas.FOLDER / f"{group}.json").read_text())
    return list(Draft202012Validator(schema).iter_errors(values))


def test_they_are_up_to_date() -> None:
    assert {path.name: path.read_text() for path in schemas.FOLDER.iterdir()} == schemas.texts()


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_is_accepted(option: str) -> None:
    group, _, name = option.partition("=")
    path = next(path for path in PUBLISHED.options(group) if path.stem == name)
    assert not errors(group, yaml.safe_load(path.read_text()))


@pytest.mark.parametrize(
    "wrong", [{"prior": "none"}, {"proir": "inclusive"}, {"_target_": "no.Such"}, {"start_deviation": -1.0}]
)
def test_wrong_ones_are_refused(wrong: dict[str, Any]) -> None:
    values = yaml.safe_load((CONF / "estimator" / "pomrl.yaml").read_text())
    assert errors("estimator", values | wrong)

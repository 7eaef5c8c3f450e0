"""YAML is read as PyYAML reads it, and what can stand for more than it says is refused."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pomrl.store.reading import DEEPEST, plain_yaml

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()


@settings(max_examples=50)
@given(st.recursive(SCALARS, lambda inside: st.lists(inside) | st.dictionaries(st.text() | st.integers(), inside)))
def test_data_are_read_as_they_were_written(data: object) -> None:
    for flow in (True, False):
        assert repr(plain_yaml(yaml.safe_dump(data, default_flow_style=flow, sort_keys=False))) == repr(data)


TEXTS = [
    "",
    "a: 1\na: 2",
    "- 0x1F\n- 1_000\n- .inf\n- 2020-01-01 10:00:00\n- '1'\n- !!str 1\n- ~\n- yes\n- ! 12\n- 1e3\n- 1.0e+3\n- |\n  x\n",
    f"{'[' * DEEPEST}{']' * DEEPEST}",
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_read_as_the_safe_loader_reads_it(text: str) -> None:
    assert repr(plain_yaml(text)) == repr(yaml.safe_load(text))


REFUSED = [
    "&a [*a]",
    "{<<: {a: 1}}",
    "!!set {a}",
    "!!python/name:os.system",
    "--- 1\n--- 2",
    "{[1]: 2}",
    "2000-02-30",
    "a: b: c",
    "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1),
]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_plain_data_is_refused(text: str) -> None:
    with pytest.raises((ValueError, yaml.YAMLError)):
        plain_yaml(text)

import pytest


@pytest.fixture(autouse=True)
def errors_are_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands print an error as one line, also after another test ran a command in this process."""
    monkeypatch.delenv("HYDRA_FULL_ERROR", raising=False)

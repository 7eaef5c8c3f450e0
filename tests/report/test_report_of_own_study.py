"""The page of a study of somebody's own, in which every text has markup."""

from pathlib import Path

import pytest
from tests.support.computed import call
from tests.support.computed import figures as figures_command
from tests.support.elements import assert_closed

from pomrl.configuration.studies import find
from pomrl_report.html_pages import StudyPage, html

pytestmark = pytest.mark.slow

EVIL = "<script>alert(1)</script>"

EVIL_FIGURE = f"""
import pandas as pd

from pomrl.figures import COLUMNS, figure, panels


def points(sweeps):
    return pd.DataFrame([["", "{EVIL}", 0.0, 1.0, 0.5, 1.5, "se", 0, False]], columns=COLUMNS)


@figure(points=points)
def drawn(data):
    '''{EVIL}.

    {EVIL} (E4)
    '''
    return panels.row_of_panels(1, 3.0, 2.0)[0]
"""


def test_what_authors_write_is_escaped(empty_outputs: Path) -> None:
    study = empty_outputs / "marked_up"
    (study / "pages").mkdir(parents=True)
    (study / "study.yaml").write_text(f"title: '{EVIL}'\ncite: '{EVIL}'\nabout: '{EVIL}'\n")
    (study / "pages" / "notes.md").write_text(f"# {EVIL}\n\n{EVIL} [{EVIL}](javascript:alert(1)) ![x](evil.png)\n")
    (study / "figures.py").write_text(EVIL_FIGURE)
    status, _, err = call(figures_command, str(study))
    assert status == 0, err
    own = html(StudyPage(find(str(study))), f"pomrl reproduce {EVIL} report")
    assert own.count("<img") == 1
    assert "<script>alert" not in own
    assert 'href="javascript:' not in own
    assert own.count("&lt;script&gt;alert(1)") >= 10
    assert_closed(own)
    assert 'id="explore"' not in own  # which has curves of sweeps

"""Constants that many tests share: the folders of this repository and the options of its configuration."""

from pomrl.configuration.composed import GROUPS
from pomrl.configuration.sources import PUBLISHED

CONF = PUBLISHED.folder
ROOT = CONF.parent
STUDIES = ROOT / "src" / "pomrl_studies"
OPTIONS = [f"{group}={path.stem}" for group in sorted(GROUPS) for path in PUBLISHED.options(group)]
"""Every option of every group, as an override; those of shipped studies too."""

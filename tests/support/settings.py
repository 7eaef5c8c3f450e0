"""Constants of many tests: folders and options of the configuration."""

from pomrl.configuration.composed import GROUPS
from pomrl.configuration.sources import PUBLISHED

CONF = PUBLISHED.folder
ROOT = CONF.parent
STUDIES = ROOT / "src" / "pomrl_studies"
OPTIONS = [f"{group}={path.stem}" for group in sorted(GROUPS) for path in PUBLISHED.options(group)]
"""Every option of every group, including shipped studies, as an override."""

"""Constants that many tests share: the folders of this repository and the options of its configuration."""

from pomrl.configuration.composed import GROUPS
from pomrl.configuration.sources import PUBLISHED

CONF = PUBLISHED.folder
ROOT = CONF.parent
OPTIONS = [f"{group}={option.stem}" for group in sorted(GROUPS) for option in sorted((CONF / group).glob("*.yaml"))]
"""Every option of every group, as an override."""

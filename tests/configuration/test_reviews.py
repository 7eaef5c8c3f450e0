"""A changed default in a copy of this repository: the kept table and `pomrl diff` name the sweeps that it affects."""

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from tests.support.computed import call
from tests.support.settings import ROOT

from pomrl.commands import diff, published_sweeps
from pomrl.commands.revisions import parse_range

EDITS = {
    "the prior of POMRL": ("estimator/pomrl.yaml", "prior: inclusive", "prior: exclusive", 30),
    "the grid of start deviations": ("estimator/ada_pomrl.yaml", "start_deviation: 0.5", "start_deviation: 0.4", None),
    "the loss": ("config.yaml", "loss: max ", "loss: mean ", None),
    "the batches": ("data/trajectories.yaml", "length:", "# length:\nlength: 7\nformer:", None),
}
"""Edits of defaults: file, text before and after, and how many sweeps that touches where the page says it."""

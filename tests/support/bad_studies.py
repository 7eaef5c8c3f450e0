"""What can be wrong with the folder of a study: the files that are changed, and what its error has to name."""

import re

from tests.support.study_folders import CLAIM, FIGURE, SWEEP

ODD = "title: A\nanalyses: [10]\nvariants: {{default: {{}}, odd: {}}}\n"
"""A description with a variant."""

FIRST = SWEEP.format(seed=1)

BAD: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "malformed YAML": ("study.yaml", "title: [A\nanalyses: 3\n", ("line 2",)),
    "no mapping": ("study.yaml", "- title\n", ("keys and values",)),
    "unknown key": ("study.yaml", "title: A\nanalysis: [10]\n", ("analysis", "unknown key")),
    "wrong type": ("study.yaml", "title: A\nbudget: much\n", ("budget", "'much'")),
    "analyses descend": ("study.yaml", "title: A\nanalyses: [20, 10]\n", ("analyses", "ascend")),
    "headline of no variant": ("study.yaml", "title: A\nheadline: [other]\n", ("headline", "other")),
    "variant of an unknown key": ("study.yaml", ODD.format("{sgima: 0.1}"), ("variants.odd", "mine/first", "sgima")),
    "variant of a wrong value": ("study.yaml", ODD.format("{sigma: -1.0}"), ("variants.odd", "sigma=-1.0")),
    "variant of no setting": ("study.yaml", ODD.format("{sigma: {a: 1}}"), ("variants.odd.sigma", "a dict")),
    "variant of no function": ("study.yaml", ODD.format("even"), ("variants.odd", "@variant", "variants.py")),
    "variant that leaves its folder": ("study.yaml", ODD.replace("odd", "../odd").format("{}"), ("a folder of its",)),
    "two claims of one id": ("claims.py", f"{CLAIM}\n\n{CLAIM.replace('helps', 'h')}", ("helps", "'K1'")),
    "claim about no sweep": ("claims.py", CLAIM.replace('"first"', '"last"'), ("claim K1", "last", "first")),
    "claim that names no sweep": ("claims.py", CLAIM.replace('"first", ', ""), ("@claim", "K1")),
    "claim without words": ("claims.py", re.sub(r'    """.*"""\n', "", CLAIM), ("meta_learning_helps", "docstring")),
    "syntax error": ("claims.py", "def claim(:\n", ("mine/claims.py:1", "invalid syntax")),
    "import error": ("claims.py", "\nfrom pomrl.study import clam\n", ("claims.py:2", "clam")),
    "figure about no sweep": ("figures.py", FIGURE.replace('"first"', '"last"'), ("curves", "last")),
    "figure of no value": ("figures.py", FIGURE.replace('"without_meta")', '"oracle")'), ("no estimator='oracle'",)),
    "figure of nothing": (
        "figures.py",
        FIGURE.replace("return PanelGrid", "PanelGrid"),
        ("figures.py:4", "NoneType"),
    ),
    "panel of no axis": ("figures.py", FIGURE.replace('"task"', '"tasks"'), ("figures.py:", "and not 'tasks'")),
    "sweep of an unknown key": ("sweeps/first.yaml", FIRST.replace("runs:", "rnus: 3\nruns:"), ("first", "rnus")),
    "sweep of a wrong value": ("sweeps/first.yaml", FIRST.replace("T: 2", "T: two"), ("first", "T='two'")),
    "sweep of no package": ("sweeps/first.yaml", FIRST.partition("\n")[2], ("begin with the line '# @package _glob",)),
    "sweep of no option": ("sweeps/first.yaml", FIRST.replace("ada_", "adda_"), ("first", "adda_pomrl")),
}
"""What is wrong: the file that is changed, its content, and the words that the line of the error has to have."""

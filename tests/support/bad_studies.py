"""What can be wrong with the folder of a study: the files that are changed, and what its error has to name."""

import re

from tests.support.study_folders import CLAIM, FIGURE, SWEEP

SECOND = CLAIM.replace("meta_learning_helps", "again")
OTHERS = (
    FIGURE[FIGURE.index("@figure") :].replace("@figure()", '@figure(name="curves")').replace("curves()", "others()")
)

FAILING_VARIANT = """\
from pomrl.study import variant


@variant()
def odd(job):
    return [1 / 0]
"""

ODD = "title: A\nanalyses: [10]\nvariants: {{default: {{}}, odd: {}}}\n"
"""A description with a variant."""

Bad = tuple[str, str, str, tuple[str, ...]]
"""What is wrong, the file that is changed, its content, and the words that the line of the error has to have."""

DESCRIPTIONS: tuple[Bad, ...] = (
    ("malformed YAML", "study.yaml", "title: [A\nanalyses: 3\n", ("line 2",)),
    ("no mapping", "study.yaml", "- title\n", ("keys and values",)),
    ("no title", "study.yaml", "error: 0.05\n", ("title", "missing")),
    ("unknown key", "study.yaml", "title: A\nanalysis: [10]\n", ("analysis", "unknown key")),
    ("wrong type", "study.yaml", "title: A\nbudget: much\n", ("budget", "'much'")),
    ("wrong type in a list", "study.yaml", "title: A\nanalyses: [ten]\n", ("analyses", "'ten'")),
    ("analyses descend", "study.yaml", "title: A\nanalyses: [20, 10]\n", ("analyses", "ascend")),
    ("error of 1", "study.yaml", "title: A\nerror: 1.0\n", ("error", "less than 1")),
    ("variant without keys", "study.yaml", "title: A\nvariants: {default: }\n", ("variants",)),
    ("headline of no variant", "study.yaml", "title: A\nheadline: [other]\n", ("headline", "other")),
    ("variant of an unknown key", "study.yaml", ODD.format("{sgima: 0.1}"), ("variants.odd", "mine/first", "sgima")),
    ("variant of an unknown option", "study.yaml", ODD.format("{planner: guess}"), ("variants.odd", "planner=guess")),
    ("variant of a wrong value", "study.yaml", ODD.format("{sigma: -1.0}"), ("variants.odd", "sigma=-1.0")),
    ("variant of no setting", "study.yaml", ODD.format("{sigma: {a: 1}}"), ("variants.odd.sigma", "a dict")),
    ("variant of no function", "study.yaml", ODD.format("even"), ("variants.odd", "@variant", "variants.py")),
    ("variant that leaves its folder", "study.yaml", ODD.replace("odd", "../odd").format("{}"), ("a folder of its",)),
)

CODE: tuple[Bad, ...] = (
    ("two claims of one id", "claims.py", f"{CLAIM}\n\n{SECOND}", ("meta_learning_helps", "again", "'K1'")),
    ("claim about no sweep", "claims.py", CLAIM.replace('"first"', '"last"'), ("claim K1", "last", "first")),
    ("claim of nobody's sweep", "claims.py", CLAIM.replace('"first"', '"pomrl/last"'), ("claim K1", "pomrl/last")),
    ("claim that names no sweep", "claims.py", CLAIM.replace('"first", ', ""), ("@claim", "K1")),
    ("claim of no figure", "claims.py", CLAIM.replace('"curves"', '"curve"'), ("figures='curve'", "there is curves")),
    ("claim without words", "claims.py", re.sub(r'    """.*"""\n', "", CLAIM), ("meta_learning_helps", "docstring")),
    ("syntax error", "claims.py", "def claim(:\n", ("mine/claims.py:1", "invalid syntax")),
    ("import error", "claims.py", "\nfrom pomrl.study import clam\n", ("claims.py:2", "clam")),
    ("missing module", "claims.py", "import numpyy\n", ("claims.py:1", "numpyy")),
    ("two figures of one name", "figures.py", f"{FIGURE}\n\n{OTHERS}", ("two figures", "curves")),
    ("figure about no sweep", "figures.py", FIGURE.replace('"first"', '"last"'), ("curves", "last")),
    (
        "figure of no value",
        "figures.py",
        FIGURE.replace('"without_meta")', '"oracle")'),
        ("figure curves: first has no estimator='oracle'", "'ada_pomrl', 'without_meta'"),
    ),
    (
        "figure of no axis",
        "figures.py",
        FIGURE.replace("{}", '{"sgima": 0.1}'),
        ("first has no sgima=0.1", "varies estimator"),
    ),
    ("figure without words", "figures.py", re.sub(r'    """[\s\S]*?"""\n', "", FIGURE), ("curves", "docstring")),
    ("figure of nothing", "figures.py", FIGURE.replace("return PanelGrid", "PanelGrid"), ("figures.py:", "NoneType")),
    ("panel of no axis", "figures.py", FIGURE.replace('"task"', '"tasks"'), ("figures.py:", "and not 'tasks'")),
    ("panel of no band", "figures.py", FIGURE.replace('"ci"', '"95"'), ("figures.py:", "and not '95'")),
)

SWEEPS: tuple[Bad, ...] = tuple(
    (f"sweep: {old!r}", "sweeps/first.yaml", SWEEP.format(seed=1).replace(old, new), words)
    for old, new, words in (
        ("runs:", "rnus: 3\nruns:", ("first", "rnus")),
        ("T: 2", "T: two", ("first", "T='two'")),
        ("# @package _global_\n", "", ("begin with the line '# @package _global_'",)),
        ("runs: 10", "runs: [1", ("first.yaml",)),
        ("ada_pomrl,", "adda_pomrl,", ("first", "adda_pomrl")),
    )
)

BAD = {what: (file, text, words) for what, file, text, words in (*DESCRIPTIONS, *CODE, *SWEEPS)}

"""What can be wrong with the folder of a study: the files that are changed, and what its error has to name."""

import re

from tests.support.study_folders import CLAIM, FIGURE, SWEEP

SECOND = CLAIM.replace("meta_learning_helps", "again")
OTHERS = (
    FIGURE[FIGURE.index("@figure") :].replace("@figure()", '@figure(name="curves")').replace("curves()", "others()")
)

OF_FLAT = SWEEP.format(seed=1).replace("ada_pomrl,", "flat,")
FLAT = "from pomrl.components import Estimator\n\n\nclass Flat(Estimator):\n    pass\n"

FAILING_VARIANT = """\
from pomrl.study import variant


@variant()
def odd(job):
    return [1 / 0]
"""

BAD: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "malformed YAML": ({"study.yaml": "title: [A\nanalyses: 3\n"}, ("mine/study.yaml:2",)),
    "no mapping": ({"study.yaml": "- title\n"}, ("mine/study.yaml", "keys and values")),
    "empty description": ({"study.yaml": ""}, ("mine/study.yaml", "keys and values")),
    "no title": ({"study.yaml": "error: 0.05\n"}, ("mine/study.yaml", "title", "missing")),
    "unknown key": ({"study.yaml": "title: A\nanalysis: [10]\n"}, ("mine/study.yaml", "analysis", "unknown key")),
    "wrong type": ({"study.yaml": "title: A\nbudget: much\n"}, ("mine/study.yaml", "budget", "'much'")),
    "wrong type in a list": ({"study.yaml": "title: A\nanalyses: [ten]\n"}, ("mine/study.yaml", "analyses")),
    "too few runs": ({"study.yaml": "title: A\nanalyses: [1]\n"}, ("mine/study.yaml", "analyses", "10")),
    "analyses descend": ({"study.yaml": "title: A\nanalyses: [20, 10]\n"}, ("mine/study.yaml", "analyses", "ascend")),
    "error of 1": ({"study.yaml": "title: A\nerror: 1.0\n"}, ("mine/study.yaml", "error", "less than 1")),
    "not a number": ({"study.yaml": "title: A\nbudget: .nan\n"}, ("mine/study.yaml", "budget")),
    "no variants": ({"study.yaml": "title: A\nvariants: {}\nheadline: []\n"}, ("mine/study.yaml", "headline")),
    "variant without keys": ({"study.yaml": "title: A\nvariants: {default: }\n"}, ("mine/study.yaml", "variants")),
    "headline of no variant": (
        {"study.yaml": "title: A\nheadline: [other]\n"},
        ("mine/study.yaml", "headline", "other"),
    ),
    "variant of an unknown key": (
        {"study.yaml": "title: A\nanalyses: [10]\nvariants: {default: {}, odd: {sgima: 0.1}}\n"},
        ("mine/study.yaml: variants.odd", "mine/first", "sgima"),
    ),
    "variant of an unknown option": (
        {"study.yaml": "title: A\nanalyses: [10]\nvariants: {default: {}, odd: {planner: guess}}\n"},
        ("mine/study.yaml: variants.odd", "planner", "guess"),
    ),
    "variant of a wrong value": (
        {"study.yaml": "title: A\nanalyses: [10]\nvariants: {default: {}, odd: {sigma: -1.0}}\n"},
        ("mine/study.yaml: variants.odd", "sigma=-1.0"),
    ),
    "variant of no function": (
        {"study.yaml": "title: A\nvariants: {default: {}, odd: odd}\n", "variants.py": "even = 2\n"},
        ("mine/study.yaml", "variants.odd", "@variant"),
    ),
    "variant of no module": (
        {"study.yaml": "title: A\nvariants: {default: {}, odd: odd}\n"},
        ("mine/study.yaml", "variants.odd", "variants.py"),
    ),
    "a key twice": (
        {"study.yaml": "title: A\nanalyses: [10]\nvariants:\n  default: {}\n  default: {loss: mean}\n"},
        ("mine/study.yaml:5", "default is there twice"),
    ),
    "variant that leaves its folder": (
        {"study.yaml": "title: A\nanalyses: [10]\nvariants: {default: {}, ../../odd: {loss: mean}}\n"},
        ("mine/study.yaml", "variants.../../odd", "a folder of its name"),
    ),
    "variant whose function fails": (
        {
            "study.yaml": "title: A\nanalyses: [10]\nvariants: {default: {}, odd: odd}\n",
            "variants.py": FAILING_VARIANT,
        },
        ("mine/variants.py:6", "variant odd", "ZeroDivisionError"),
    ),
    "two claims of one id": ({"claims.py": f"{CLAIM}\n\n{SECOND}"}, ("mine", "meta_learning_helps", "again", "'K1'")),
    "two claims of one id in two modules": (
        {"claims.py": "", "claims/a.py": CLAIM, "claims/b.py": SECOND},
        ("mine", "'K1'"),
    ),
    "claim about no sweep": ({"claims.py": CLAIM.replace('"first"', '"last"')}, ("mine", "claim K1", "last", "first")),
    "claim about a sweep of nobody": (
        {"claims.py": CLAIM.replace('"first"', '"pomrl/last"')},
        ("mine", "claim K1", "pomrl/last"),
    ),
    "claim about a sweep of an unknown study": (
        {"claims.py": CLAIM.replace('"first"', '"theirs/first"')},
        ("mine", "claim K1", "theirs/first"),
    ),
    "figure about a sweep of nobody": (
        {"figures.py": FIGURE.replace('"first"', '"pomrl/last"')},
        ("mine", "figure curves", "pomrl/last"),
    ),
    "claim that names no sweep": ({"claims.py": CLAIM.replace('"first", ', "")}, ("mine", "@claim", "K1")),
    "claim that names no figure": (
        {"claims.py": CLAIM.replace('"curves"', '"curve"')},
        ("mine: claim K1: figures='curve'", "there is curves"),
    ),
    "figure of a value that its sweep does not have": (
        {"figures.py": FIGURE.replace('"without_meta")', '"oracle")')},
        ("mine: figure curves: first has no estimator='oracle'; in it estimator is 'ada_pomrl', 'without_meta'",),
    ),
    "figure of a key that its sweep does not vary": (
        {"figures.py": FIGURE.replace("{}", '{"sgima": 0.1}')},
        ("mine: figure curves: first has no sgima=0.1; it varies estimator",),
    ),
    "claim without a statement": (
        {"claims.py": re.sub(r'    """.*"""\n', "", CLAIM)},
        ("mine", "meta_learning_helps", "docstring"),
    ),
    "syntax error": ({"claims.py": "def claim(:\n"}, ("mine/claims.py:1", "invalid syntax")),
    "import error": ({"claims.py": "\nfrom pomrl.study import clam\n"}, ("mine", "claims.py:2", "clam")),
    "module that is not installed": ({"claims.py": "import numpyy\n"}, ("mine", "claims.py:1", "numpyy")),
    "figures that do not import": ({"figures.py": "1 / 0\n"}, ("mine/figures.py:1", "ZeroDivisionError")),
    "two figures of one name": ({"figures.py": f"{FIGURE}\n\n{OTHERS}"}, ("mine", "two figures", "curves")),
    "two figures of one name in two modules": (
        {"figures.py": "", "figures/a.py": FIGURE, "figures/b.py": FIGURE},
        ("mine", "two figures", "curves"),
    ),
    "figure about no sweep": ({"figures.py": FIGURE.replace('"first"', '"last"')}, ("mine", "curves", "last")),
    "figure without a docstring": (
        {"figures.py": re.sub(r'    """[\s\S]*?"""\n', "", FIGURE)},
        ("mine", "curves", "docstring"),
    ),
    "sweep of an unknown key": (
        {"sweeps/first.yaml": SWEEP.format(seed=1).replace("runs:", "rnus: 3\nruns:")},
        ("mine", "first", "rnus"),
    ),
    "sweep of a wrong value": (
        {"sweeps/first.yaml": SWEEP.format(seed=1).replace("T: 2", "T: two")},
        ("mine", "first", "T='two'"),
    ),
    "sweep without its first line": (
        {"sweeps/first.yaml": SWEEP.format(seed=1).replace("# @package _global_\n", "")},
        ("mine/first", "begin with the line '# @package _global_'"),
    ),
    "sweep whose axis is a list": (
        {"sweeps/first.yaml": SWEEP.format(seed=1).replace('"ada_pomrl,without_meta"', "[ada_pomrl, oracle]")},
        ("mine/first", "the values of an axis are text with commas: 'ada_pomrl,oracle'"),
    ),
    "figure that returns nothing": (
        {"figures.py": FIGURE.replace("return PanelGrid", "PanelGrid")},
        ("mine/figures.py", "curves: a function without arguments returns panels, and this one NoneType"),
    ),
    "sweep that is no YAML": ({"sweeps/first.yaml": "runs: [1\n"}, ("mine", "first.yaml")),
    "sweep of an unknown option": (
        {"sweeps/first.yaml": SWEEP.format(seed=1).replace("ada_pomrl,", "adda_pomrl,")},
        ("mine", "first", "adda_pomrl"),
    ),
    "no sweep, claim or figure": (
        {"sweeps/first.yaml": "", "claims.py": "", "figures.py": ""},
        ("mine", "no sweeps"),
    ),
}
"""For each fault the changed files by name, and the words that the one line of the error has to have."""

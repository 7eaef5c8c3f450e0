"""Looks of what several figures of this study show, and what is no option of the configuration."""

from pomrl.study import Look

BOUNDS = {
    "as_printed": Look("Bound, as printed", "#a02020", "", ":"),
    "corrected": Look("Bound, corrected", "#999999", "", "-"),
    "sharpened": Look("Bound, sharpened", "black", "", "--"),
}
"""The bounds on the average regret, by their variants; where two are almost equal, dashes leave both to be seen."""

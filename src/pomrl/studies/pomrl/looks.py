"""Looks of what several figures of this study show, and what is no option of the configuration."""

from pomrl.study import Look

BOUNDS = {
    "as_printed": Look("Bound, as printed", "#a02020", "", ":"),
    "corrected": Look("Bound, corrected", "black", "", "--"),
    "sharpened": Look("Bound, sharpened", "#666666", "", "-."),
}
"""The bounds on the average regret, by their variants."""

"""What a shorter horizon gains under a wrong prior."""

from collections.abc import Iterator

import pandas as pd

from pomrl.studies.beyond.claims.horizons_and_priors import WEIGHTS, relative_gain
from pomrl.study import (
    TEXT_WIDTH,
    Drawing,
    Look,
    Losses,
    Series,
    StoredSweeps,
    collect,
    figure,
    look,
    panels,
)

SWEEP = "wrong_priors"

LOOKS = {
    "known": Look("Mean of the prior: true", look("oracle").color, "s"),
    "uniform": Look("Mean of the prior: uniform", look("without_meta").color, "D", "--"),
}

TRUE_WEIGHTS = {0.01: 0.83, 0.047: 0.46}
"""The weight of a prior with the true concentration, by sigma."""

PANELS = [
    [Series(look, SWEEP, {"sigma": sigma, "estimator.prior": prior}, panel=letter) for prior, look in LOOKS.items()]
    for letter, sigma in zip("ab", TRUE_WEIGHTS, strict=True)
]


@figure(SWEEP)
def wrong_priors(sweeps: StoredSweeps) -> Drawing:
    """What a shorter horizon gains under a wrong prior.

    What a shorter horizon gains for a posterior mean whose prior has a fixed weight, against that weight.

    The gain is the loss at gamma_eval less that at the best fixed gamma, as a share of the former, averaged over tasks.
    The gamma is chosen on one half of the runs and judged on the other; bands are 95 % intervals. The prior's mean is
    the true mean model or the uniform one. Dotted lines mark the weight that the true concentration of the tasks stands
    for, which is α = c / (c + m) with m = 5: c is about 24 at σ = 0.01 and about 4.3 at σ = 0.047.
    """
    wanted = [series for panel in PANELS for series in panel]
    data = collect(_gains(sweeps, wanted), wanted)
    figure, axes = panels.row_of_panels(len(PANELS), TEXT_WIDTH, 2.6, share_y=True)
    for ax, of_panel, (sigma, weight) in zip(axes, PANELS, TRUE_WEIGHTS.items(), strict=True):
        panels.curves(ax, data, of_panel)
        ax.axvline(weight, color="black", linewidth=0.8, linestyle=":")
        ax.set_xlabel("Weight α of the prior")
        panels.letter(ax, of_panel[0].panel, f"σ = {sigma:g}")
    axes[0].set_ylabel("Relative gain of best γ")
    panels.shared_legend(figure, axes, columns=2)
    return panels.finish(figure, data, wanted, sweeps)


def _gains(sweeps: StoredSweeps, wanted: list[Series]) -> Iterator[pd.DataFrame]:
    """Yield the relative gains of each series against the weight, with their intervals."""
    for series in wanted:
        rows = series.rows(sweeps)
        found = []
        for weight in WEIGHTS:
            of_weight = rows[rows["estimator.mixing"] == weight]
            if len(of_weight):
                gain = relative_gain(Losses.of_table(of_weight))
                found.append((weight, gain.value, gain.lower, gain.upper, gain.runs))
        bands = pd.DataFrame(found, columns=["weight", "mean", "lower", "upper", "n"])
        yield series.points(bands, "weight", "95 % interval")

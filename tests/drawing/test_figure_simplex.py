import numpy as np
from tests.support.checks import choose
from tests.support.synthetic import SIGMAS

from pomrl_studies.pomrl2023 import simplex


def test_concentration_gives_the_variance():
    for variance in SIGMAS:
        draws = simplex.dirichlet(simplex.concentration(variance), 200_000)
        np.testing.assert_allclose(draws.var(0), variance, rtol=0.02)
        np.testing.assert_allclose(draws.mean(0), 1 / 3, atol=2e-3)


def test_insets_show_draws_that_spread_with_sigma(drawings):
    for name in ("dependence_on_tasksimilarity", "dependence_on_tasksimilarity_ablation", "gaussian_tasks"):
        draws = choose(drawings[name].data, band="draw")
        assert set(draws["panel"]) == {"a", "b", "c"}
        variance = draws.groupby("panel")[["x", "mean"]].var().mean(axis=1)
        np.testing.assert_allclose(variance, np.array(SIGMAS) * 1.5 / 2, rtol=0.3)
        insets = [inset for ax in drawings[name].figure.axes[:3] for inset in ax.child_axes]
        assert [len(np.asarray(inset.lines[0].get_xdata())) for inset in insets] == [150] * 3


def test_overview_has_tasks_around_their_mean(drawings):
    data = drawings["overview"].data
    tasks = choose(data, panel="a", series="Task models P₁ ... P₁₅")
    mean = choose(data, series="Their mean Pₒ").iloc[0]
    assert len(tasks) == 15
    assert np.hypot(tasks["x"].mean() - mean["x"], tasks["mean"].mean() - mean["mean"]) < 0.1

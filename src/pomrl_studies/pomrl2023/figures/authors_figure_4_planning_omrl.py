"""Draw Figure 4 from the authors' computations."""

from pomrl.figures import METHODS, DataFrame, Figure, Look, Panel, View, dynamic_best, everything, figure
from pomrl_studies.pomrl2023 import overlay
from pomrl_studies.pomrl2023.digitised import AuthorsSeries
from pomrl_studies.pomrl2023.horizon_panels import HORIZON, MINIMUM, HorizonPanel

SIGMAS = (0.01, overlay.DIGITISED_SIGMA)


def _series(look: Look, sigma: float, view: View, curve: str) -> AuthorsSeries:
    settings = {"sigma": sigma, "estimator": "ada_pomrl"}
    cells = (45,) if sigma == overlay.DIGITISED_SIGMA else ()
    return AuthorsSeries(look, overlay.SIMILARITY, settings, view, cells=cells, curve=curve)


GRID = overlay.AuthorsGrid(
    [
        [overlay.per_task(s, METHODS, overlay.title(s)) for s in SIGMAS],
        [overlay.against_gamma(s, "ada-POMRL") for s in SIGMAS],
        [Panel("ada-POMRL, γ = γ*", [_series(MINIMUM, s, dynamic_best, "min loss")], "task", "se") for s in SIGMAS],
        [HorizonPanel("ada-POMRL", [_series(HORIZON, s, everything, "gamma*")], "task", "se") for s in SIGMAS],
    ],
    row_height=1.9,
)


@figure(panels=GRID)
def authors_planning_omrl(data: DataFrame) -> Figure:
    """Figure 4, as the authors computed it: Over tasks, ada-POMRL's loss falls, and the best γ grows.

    Planning with online meta-learning, at two similarities of the tasks.

    Rows show the loss at gamma_eval, and for ada-POMRL the loss against gamma, the loss at gamma*, and gamma*. Left
    panels have the paper's similarity, right ones the similarity of the notebook's cells 44, 45, 55 and 61. Hollow
    points were read off these cells; the legend has a joint test of each panel. Crosses are numbers that the notebook
    printed.
    """
    return GRID.draw(data)

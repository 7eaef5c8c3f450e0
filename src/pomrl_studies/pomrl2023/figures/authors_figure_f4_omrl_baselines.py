"""Draw Figure F4 from the authors' computations."""

from pomrl.figures import DataFrame, Figure, figure, look
from pomrl_studies.pomrl2023.overlay import AuthorsGrid, against_gamma

GRID = AuthorsGrid(
    [[against_gamma(0.01, look(name).label, name) for name in ("ada_pomrl", "oracle", "without_meta")]],
)


@figure(panels=GRID)
def authors_omrl_baselines(data: DataFrame) -> Figure:
    """Figure F4, as the authors would compute it: With meta-learning, the best γ is larger.

    The loss against gamma in several tasks t for three methods; the paper's sigma is 0.01.
    """
    return GRID.draw(data)

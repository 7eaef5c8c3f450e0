"""Draw Figure F2: the loss at three task similarities, with aggregation."""

from pomrl.figures import METHODS, DataFrame, Figure, figure
from pomrl_studies.pomrl2023 import similarities

GRID = similarities.similarity_panels("task_similarity", [*METHODS, "aggregating"])


@figure(panels=GRID)
def dependence_on_tasksimilarity_ablation(data: DataFrame) -> Figure:
    """Figure F2: Similarity, with aggregation.

    Panels (a) to (c) of Figure 5 with the estimator that aggregates the batches of all tasks.

    The paper: "We run another baseline called Aggregating (orange) that simply ignores the meta-RL structure and acts
    as if it is all one single task. [...] Error bars represent 1-standard deviation of uncertainty across 100
    independent runs."
    """
    return GRID.draw(data)

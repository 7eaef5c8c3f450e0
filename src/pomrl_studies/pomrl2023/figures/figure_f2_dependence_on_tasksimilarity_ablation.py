"""Figure F2: Similarity, with aggregation.

Panels (a) to (c) of Figure 5 with the estimator that aggregates the batches of all tasks.

Bands show one standard deviation.

The paper: "We run another baseline called Aggregating (orange) that simply ignores the meta-RL structure and acts as if
it is all one single task. In the presence of strong structure, [...] even naively aggregating the tasks transitions
might seem to work well. However, such a naive method is not reliable as the underlying task similarity decreases - the
learner struggles to cope with new unseen tasks which differ significantly and the planning loss doesn't improve. Error
bars represent 1-standard deviation of uncertainty across 100 independent runs."
"""

from pomrl.figures import METHODS
from pomrl_studies.pomrl2023 import similarities

FIGURE = similarities.sweep_series("task_similarity", [*METHODS, "aggregating"])

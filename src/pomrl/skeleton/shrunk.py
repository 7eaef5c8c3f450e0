"""An estimator of the study's own. `conf/estimator/shrunk.yaml` makes it an option: `estimator=shrunk`."""

from pomrl.components import Batch, Field, Memory, ModelEstimator, Models, Truth


class Shrunk(ModelEstimator):
    """The frequencies of a task, with those of earlier tasks at a fixed weight."""

    weight: float = Field(ge=0, le=1, description="weight of the mean of earlier tasks")

    def estimate(self, memory: Memory, batch: Batch, truth: Truth) -> Models:
        """Return the models of the task in all runs; before the first task there is no mean to shrink them to."""
        weight = self.weight if memory.tasks > 0 else 0.0
        return weight * memory.P_o_hat + (1.0 - weight) * batch.P_bar

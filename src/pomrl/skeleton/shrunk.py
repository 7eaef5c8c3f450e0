"""An estimator of this study, with the option `estimator=shrunk` in `conf/estimator/shrunk.yaml`."""

from pomrl.components import Batch, Field, Memory, ModelEstimator, Models, Truth


class Shrunk(ModelEstimator):
    """A weighted mean of the frequencies in this task and in earlier tasks."""

    weight: float = Field(ge=0, le=1, description="weight of the mean of earlier tasks")

    def estimate(self, memory: Memory, batch: Batch, truth: Truth) -> Models:
        """Estimate the models of the task in all runs."""
        weight = self.weight if memory.tasks > 0 else 0.0  # no earlier tasks before the first one
        return weight * memory.P_o_hat + (1.0 - weight) * batch.P_bar

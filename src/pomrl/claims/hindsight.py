"""What it costs the schedules that choose in hindsight that half of the runs choose for the other half."""

from pomrl import store
from pomrl.claims.loading import Basis, Reader


def costs_of_halves(basis: Basis, reader: Reader) -> tuple[str, ...]:
    """Return a sentence on what it costs the hindsight schedules that half of the runs choose for the other half."""
    grids = [
        setting.experiment
        for setting in basis.settings.get("gamma_schedules", ())
        if tuple(setting.varied.values()) == ("pomrl", "grid")
    ]
    remarks: list[str] = []
    for grid in grids:
        numbers = [runs for runs in (grid.request.runs, 3000) if store.lookup(grid).complete() >= runs]
        costs = [
            f"with {runs} runs {losses.cost_of_halves('all_tasks'):.4f} for best_fixed and "
            f"{losses.cost_of_halves('each_task'):.4f} for dynamic_best"
            for runs in numbers
            for losses in [reader.losses(grid, runs)]
        ]
        if costs:
            remarks.append(
                "That one half of the runs chooses for the other half raises the loss of the schedules that choose in "
                f"hindsight: {'; '.join(costs)}."
            )
    return tuple(remarks)

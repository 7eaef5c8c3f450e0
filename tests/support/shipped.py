"""The figures and simulations of the shipped studies, by unique names."""

from pomrl.configuration.studies import shipped_studies
from pomrl.drawing.figure import Figure, figures_of
from pomrl.judging.claim import claims_of


def _drawn_by(figure: Figure) -> object:
    """Return the class of panels of a figure, or its function."""
    panels = getattr(figure.points, "__self__", None)
    return figure.function if panels is None else type(panels)


FIGURES = {figure.name: figure for study in shipped_studies() for figure in figures_of(study)}
"""All figures."""

SIMULATIONS = {
    simulation.name: simulation
    for study in shipped_studies()
    for simulations in (
        *(figure.simulations for figure in figures_of(study)),
        *([claim.simulation] for claim in claims_of(study) if claim.simulation),
    )
    for simulation in simulations
}
"""All simulations."""

AUTHORS = [name for name in FIGURES if name.startswith("authors_")]
"""The figures with the authors' definitions."""

OF_SWEEPS = [name for name, figure in FIGURES.items() if figure.sweeps]
"""The figures of stored runs."""

OF_SERIES = [name for name, figure in FIGURES.items() if figure.selected_series]
"""The figures with a version with intervals."""

OF_EACH_KIND = list(
    {
        _drawn_by(figure): figure.name
        for figure in sorted(FIGURES.values(), key=lambda entry: -len(entry.selected_series))
    }.values()
)
"""For each class of panels the figure with the fewest series, and the figures with separate functions."""

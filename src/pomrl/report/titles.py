"""Titles of the figures on the page, and the figures that show what a claim is about."""

TITLES = {
    "overview": "The idea, with real draws",
    "illustration": "More samples or a better prior: longer horizons",
    "pomrl_vs_adapomrl": "Known and estimated similarity",
    "planning_omrl": "Planning with online meta-learning",
    "dependence_on_tasksimilarity": "How much similarity matters",
    "gamma_schedules": "Schedules of the discount factor",
    "dirichlet_task_dist": "Draws of tasks",
    "dependence_on_tasksimilarity_ablation": "Similarity, with aggregation",
    "arub_dependence_on_mT": "Few or many samples and tasks",
    "omrl_baselines": "Loss against γ, task by task",
    "varyingSmT": "More states",
    "authors_pomrl_vs_adapomrl": "Known and estimated similarity, by the notebook",
    "authors_planning_omrl": "Planning with online meta-learning, by the notebook",
    "authors_dependence_on_tasksimilarity": "How much similarity matters, by the notebook",
    "authors_gamma_schedules": "Schedules of the discount factor, by the notebook",
    "authors_dependence_on_tasksimilarity_ablation": "Similarity, with aggregation, by the notebook",
    "authors_arub_dependence_on_mT": "Few or many samples and tasks, by the notebook",
    "authors_omrl_baselines": "Loss against γ, task by task, by the notebook",
    "authors_varyingSmT": "More states, by the notebook",
    "gaussian_tasks": "Gaussian tasks",
    "varying_pairs": "Tasks that differ in a fifth of the pairs",
    "gamma_schedules_adapomrl": "Schedules with ada-POMRL",
    "fixed_mean_model": "One mean model, or one for each run",
    "average_over_tasks": "Averages over the first tasks",
    "initial_similarity": "Where ada-POMRL starts",
    "horizon_or_prior": "A shorter horizon, or a better prior?",
    "known_law": "What can be known of the next task",
    "wrong_priors": "What a shorter horizon gains under a wrong prior",
    "average_regret": "Measured regret beside its bounds",
    "upper_bound": "The upper bound and its minimum",
    "squared_error": "Squared error against the mixing rate",
    "mixing_rates": "What the mixing rate costs",
    "vacuous_bounds": "Where bounds say nothing",
}
"""Title by name of the figure. The title of a figure that is not listed is its name."""

SHOWN_IN = {
    "Q1": ("planning_omrl", "pomrl_vs_adapomrl"),
    "Q2": ("planning_omrl",),
    "Q3": ("dependence_on_tasksimilarity",),
    "Q4": ("gamma_schedules",),
    "A.1": ("dependence_on_tasksimilarity_ablation",),
    "A.2": ("dependence_on_tasksimilarity_ablation",),
    "A.3": ("arub_dependence_on_mT",),
    "A.4": ("varyingSmT",),
    "A.5": ("initial_similarity",),
    "I": ("illustration",),
    "T": ("average_regret", "vacuous_bounds"),
    "H1": ("horizon_or_prior",),
    "H2": ("horizon_or_prior",),
    "H3": ("horizon_or_prior",),
    "H4": ("wrong_priors",),
}
"""Names of figures by a claim's id, or by the part of the id before the point.

Claims that are not listed have no figure of their own.
"""


def title(figure: str) -> str:
    """Return the title of a figure on the page."""
    return TITLES.get(figure, figure.replace("_", " "))


def figures_of(claim: str) -> tuple[str, ...]:
    """Return the names of the figures that show what a claim is about, given the claim's id."""
    return SHOWN_IN.get(claim, SHOWN_IN.get(claim.partition(".")[0], ()))

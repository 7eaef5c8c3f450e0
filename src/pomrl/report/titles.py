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
    "families": "Models that people know",
    "streams": "Tasks whose mean model changes",
    "unequal_data": "Numbers of transitions that differ",
    "online_collection": "Learners that collect their data",
    "unknown_rewards": "Rewards that are not known",
    "long_streams": "A thousand tasks",
    "average_regret": "Measured regret beside its bounds",
    "upper_bound": "The upper bound and its minimum",
    "squared_error": "Squared error against the mixing rate",
    "mixing_rates": "What the mixing rate costs",
    "vacuous_bounds": "Where bounds say nothing",
}
"""Title by name of the figure. The title of a figure that is not listed is its name."""

CLAIM_TITLES = {
    "Q1.1": "ada-POMRL's loss falls from the first task to the last",
    "Q1.2": "ada-POMRL's loss varies less in the last task",
    "Q1.3": "without meta-learning nothing improves",
    "Q1.4": "the oracle is best, then POMRL and ada-POMRL, then no meta-learning",
    "Q1.5": "ada-POMRL catches up with POMRL",
    "Q1.6": "ada-POMRL approaches the oracle",
    "Q2.1": "the best γ is below 0.5 in the first task",
    "Q2.2": "the best γ is above 0.7 in the last task",
    "Q2.3": "the best γ grows with the number of tasks",
    "Q2.4": "the loss at the best γ falls with the number of tasks",
    "Q3.1": "meta-learning gains most where tasks are similar",
    "Q3.2": "ada-POMRL does no worse in the end where tasks are loosely related",
    "Q3.3": "the best γ is near 0.5 where tasks are loosely related",
    "Q3.4": "POMRL and ada-POMRL are on a par with the oracle at every similarity",
    "Q3.5": "ada-POMRL's regret falls with the number of tasks and with their similarity",
    "Q4.1": "every schedule of γ beats the constant gamma_eval",
    "Q4.2": "the schedule of Dong et al. beats the best fixed γ in the last tasks",
    "Q4.3": "the schedule from the upper bound beats the best fixed γ",
    "Q4.4": "the upper bound's schedule beats gamma_eval with every offset gamma_0",
    "Q4.5": "the best γ of the first task is between 0.25 and 0.50",
    "A.1": "aggregating all tasks is as good as POMRL where tasks are similar",
    "A.2": "aggregating all tasks fails where they are loosely related",
    "A.3": "few samples and few tasks call for a very small γ",
    "A.4": "few samples and few tasks call for a very small γ with more states, too",
    "A.5": "a wrong first estimate of σ matters in the first tasks only",
    "I.1": "more samples raise the best γ",
    "I.2": "a better prior raises the best γ",
    "T.1": "the bound of Theorem 3 holds once a misprint is repaired",
}
"""Short forms of the claims' statements, by id."""

HEADLINES = {"Q1.1", "Q1.6", "Q2.3", "Q3.1", "Q4.1", "Q4.3", "I.1", "I.2", "T.1"}
"""The claims that the first paragraphs of the page name if they hold; they name all claims that do not."""

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
    "N1": ("streams",),
    "N2": ("unequal_data",),
    "U1": ("unknown_rewards",),
    "T": ("average_regret", "vacuous_bounds"),
    "H1": ("horizon_or_prior",),
    "H2": ("horizon_or_prior",),
    "H3": ("horizon_or_prior",),
    "H4": ("wrong_priors",),
    "H4.2": ("families",),
    "R1": ("families",),
    "R2": ("families",),
    "R3": ("families",),
    "R4": ("families",),
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

"""The simulations of figures and claims, computed and stored once."""

import numpy as np

from pomrl.study import Simulation
from pomrl_studies.pomrl2023.theory.coverage import model_error_coverage
from pomrl_studies.pomrl2023.theory.learned_mixing import learned_mixing_rates
from pomrl_studies.pomrl2023.theory.related_tasks import related_tasks
from pomrl_studies.pomrl2023.theory.squared_error import mixing_rates_and_errors, squared_error_against_alpha

MODEL_ERROR_COVERAGE = Simulation(model_error_coverage, {"sequences": 2000, "delta": 0.05})
SQUARED_ERROR_AGAINST_ALPHA = Simulation(squared_error_against_alpha, {"alphas": np.linspace(0.0, 1.0, 21).tolist()})
MIXING_RATES_AND_ERRORS = Simulation(mixing_rates_and_errors)
RELATED_TASKS = Simulation(related_tasks)
LEARNED_MIXING_RATES = Simulation(learned_mixing_rates)

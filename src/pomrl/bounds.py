"""The bounds of the paper and their corrections under one short name; the code is in `pomrl.theory`."""

from pomrl.science.upper_bound import regret_constant as regret_constant
from pomrl.science.upper_bound import regret_upper_bound as regret_upper_bound
from pomrl.science.upper_bound import upper_bound_gamma as upper_bound_gamma
from pomrl.theory.bounds import average_regret_bound as average_regret_bound
from pomrl.theory.bounds import average_uncertainty as average_uncertainty
from pomrl.theory.bounds import jiang_bound as jiang_bound
from pomrl.theory.bounds import planning_loss_bound as planning_loss_bound
from pomrl.theory.bounds import regret_order as regret_order
from pomrl.theory.concentration import model_error_bound as model_error_bound

"""Names for packages with models of their own: `from pomrl.planning import PolicyIteration`."""

from pomrl.base import check_memory as check_memory
from pomrl.execution.local import one_thread as one_thread
from pomrl.models.inputs import read_gammas as read_gammas
from pomrl.models.inputs import stand_ins as stand_ins
from pomrl.models.planning import END as END
from pomrl.models.planning import Model as Model
from pomrl.models.planning import from_arrays as from_arrays
from pomrl.priors import dirichlet_prior as dirichlet_prior
from pomrl.science.mdp import check_gamma_eval as check_gamma_eval
from pomrl.science.planners import PolicyIteration as PolicyIteration
from pomrl.science.solvers import sparse as sparse
from pomrl.science.solvers.evaluation import chain_value as chain_value
from pomrl.science.solvers.input_checks import check_finite as check_finite
from pomrl.science.solvers.input_checks import check_models as check_models
from pomrl.science.solvers.input_checks import float64 as float64

"""The claims of the paper: each is a function of stored tables, and its verdict follows from fixed rules.

**A claim** has one or more parts. A part is a number that is estimated over runs, with an interval (`inference`), and
the range in which the claim says that the number lies: above one threshold, below another, or between two. A part
*holds* when its interval lies on the claim's side of every threshold, is *refuted* when its interval lies on the other
side of a threshold, and is open otherwise. A claim is *reproduced* when every part holds, *not reproduced* when a part
is refuted, and *undecided* otherwise.

**Two kinds of verdicts.** The answer is given at precision (`precision`, `deciding`): runs are added, at fixed numbers
of them, until the claim is decided, with an error of 0.05 / 28 for each claim over all its looks. Beside it stands what
the paper's own number of runs says, with Holm's correction over all claims (`verdict`, `judging`), the probability that
so many runs show the claim (`chances`), and the share of environments in which it is true (`environments`).

**The paper's words** mean the same in every claim:

- "On a par", "competitive", "does not improve": the difference is within 10 % of the mean of what it is compared with,
  which two one-sided tests decide. "No worse", "not beaten": it exceeds that mean by less than 10 %.
- "Below", "beats", "falls", "grows": the sign of the difference. At precision a difference that is shown to be smaller
  than the smallest effect of interest is no difference: 2 % of the mean of what it is compared with, or 0.02 for
  gammas, correlations and shares.
- "best_fixed", "dynamic_best": each half of the runs chooses for the other half, so that no choice is judged on the
  runs that it was made from. Under reading A8 (`per_run`) each run chooses for itself; that such a choice beats
  gamma_eval is true by construction, and no finding.
- "First tasks": tasks 2 to 5. "Last tasks": tasks 11 to 15. A claim that names no tasks is about the average over all.
- "Gain": the loss without meta-learning less the loss of ada-POMRL.
- A claim that names no discount factor is about gamma_eval.
- "gamma* < g": the smallest mean loss below g is less than the smallest mean loss at or above g; "gamma* > g" likewise.
  "gamma* near g": the smallest mean loss within 0.1 of g is less than the smallest elsewhere. "Very small": below 0.5.
- "U-shaped": the smallest mean loss inside the grid is less than the loss at either end of it.
- "Slope": the least-squares slope over tasks, times the number of steps from the first task to the last.
- "gamma* grows with x": Spearman's rank correlation of gamma* and x is above 0. Noise in gamma* weakens the
  correlation, so that its interval says how small the correlation may be, but not how large.

**Pairs.** Experiments of one seed share their random streams, whatever else they differ in: another method, sigma, m, T
or S. All comparisons are in pairs over runs.

**Revised rules.** The rules were fixed before there were data, and some were revised after verdicts had been seen
(`claim.Revision`): each with its reason and the verdict by the old rule.

**Selected on.** Three readings of the paper were chosen after looking at results that some claims are about: what sigma
is (A1), whose batches the prior contains (A2), and whether runs share one mean model (A6). These claims are marked (s)
wherever they are shown.
"""

from pomrl.claims.claim import Claim
from pomrl.claims.ours import assumptions, families, horizons_and_priors
from pomrl.claims.paper import appendix, horizons, illustration, planning_accuracy, schedules, similarity, theory

QUESTIONS = (planning_accuracy, horizons, similarity, schedules, appendix, illustration, theory)
"""The modules of claims, in the order of the paper's questions."""

CLAIMS = tuple(claim for module in QUESTIONS for claim in vars(module).values() if isinstance(claim, Claim))
"""All claims, each where its module defines it. The last one is about a simulation and not about sweeps."""

QUESTIONS_OF_OURS = (horizons_and_priors, families, assumptions)
"""The modules of claims of ours, in the order of their questions."""

_OF_OURS = tuple(
    claim
    for module in QUESTIONS_OF_OURS
    for claim in vars(module).values()
    if isinstance(claim, Claim) and claim not in CLAIMS  # a claim of ours may compare verdicts on the paper's
)

OURS = tuple(claim for claim in _OF_OURS if claim.is_judged)
"""Claims of ours, which go beyond the paper. They share an error of 5 % of their own (`pomrl.claims.ours`)."""

REPORTED = tuple(claim for claim in _OF_OURS if not claim.is_judged)
"""Questions of ours without a claim, of which estimates are reported and nothing is judged."""

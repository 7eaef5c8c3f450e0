"""The claims of the paper, each a function of stored tables that ends in a verdict. The rules came before the data.

**A claim** has one or more parts. A part is a number estimated over runs, with a 95 % interval (`inference`), and a
threshold, or two, between which the claim says that the number lies. A part *holds* when its interval lies on the
claim's side of every threshold, is *refuted* when it lies on the other side of one, and is open otherwise. A claim is
*reproduced* when every part holds, *not reproduced* when one is refuted, and *inconclusive* otherwise (`verdict`).
The headline corrects for the number of claims by Holm's method; the verdict without it is shown beside it.

**Words of the paper** mean the same everywhere:

- "on a par", "competitive", "does not improve": two one-sided tests, that the difference is within 10 % of the mean of
  what it is compared with. A difference beyond that refutes it; one that may be either leaves it open.
- "below", "beats", "<=", "no worse", "not beaten": the sign of the difference, without a margin. So what is as good,
  and no better, leaves a "no worse" open with any number of runs.
- "best_fixed", "dynamic_best": what each half of the runs chooses for the other, so that nothing is judged on what it
  was chosen from. Under reading A8 (`per_run`) each run chooses for itself: that it then beats gamma_eval is no
  finding.
- "first tasks": 2 to 5; "last tasks": 11 to 15. Where a claim names no tasks, the average over all of them is meant.
- "gain": the loss without meta-learning less that of ada-POMRL. Where a claim names no discount factor, gamma_eval.
- "gamma* < g": the smallest mean loss below g is less than the smallest at or above it; "gamma* > g" likewise; "near
  g": the smallest within 0.1 of g is less than the smallest elsewhere. Never a comparison of two estimated argmins.
- "U-shaped": the minimum is below the loss at either end of the grid. "Slope": least squares over tasks, times the
  number of steps between the first and the last.
- "gamma* grows with x": the rank correlation (Spearman's) of gamma* and x is above 0. Its interval says how small it
  may be; how large, noise in gamma* hides.

**Pairs.** Methods at one problem see the same draws, so that they are compared in pairs over runs. Settings that differ
in sigma, m, T or S are compared as independent samples, which their words say. (Their runs share mean models and
streams, and losses are correlated by up to 0.7: most of these intervals are too wide. In pairs Q3.5 would have p-values
of 0.002 and 0.0006, and be reproduced without Holm. That was seen after the rule was made, which therefore stays.)

**Selected on.** Three readings of the paper (A1, A2, A6: what sigma is, whose batches the prior holds, one mean model
or one per run) were chosen after looking at results that some claims are about. These are marked (s) everywhere.
"""

from pomrl.claims import appendix, horizons, illustration, planning_accuracy, schedules, similarity, theory
from pomrl.claims.claim import Claim

CLAIMS: tuple[Claim, ...] = (
    *planning_accuracy.CLAIMS,
    *horizons.CLAIMS,
    *similarity.CLAIMS,
    *schedules.CLAIMS,
    *appendix.CLAIMS,
    *illustration.CLAIMS,
    *theory.CLAIMS,
)
"""All claims, in the order of the paper's questions. That about the bounds reads no sweep: it is simulated."""

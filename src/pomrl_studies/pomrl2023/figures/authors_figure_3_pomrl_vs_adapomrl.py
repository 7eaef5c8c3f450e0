"""Figure 3, as the authors computed it: Known and estimated similarity.

The loss of POMRL and ada-POMRL in each task when planning with gamma_eval.

Panel (a) shows the similarity of the paper's figure. The figure in cell 61 of the notebook has that of panel (b), where
its points are drawn hollow, with their errors of reading. Bands show one standard error over 100 runs.

The legend has the number of readings, and the largest |z| of them.
"""

from pomrl_studies.pomrl2023.overlay import AuthorsGrid, per_task, title

FIGURE = AuthorsGrid([[per_task(c, ["pomrl", "ada_pomrl"], title(c)) for c in (1.5, 0.375)]], row_height=2.8)

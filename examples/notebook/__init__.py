"""What the public notebook of the paper's first author computes, digit for digit.

The notebook (`pomrl.ipynb` in the repository kkhetarpal/pomrl, commit 6df4b87) made the figures of the paper. This
package draws the same random numbers in the same order and computes the same losses; each module says what the notebook
does in a step and how that differs from the text of the paper. It is no component of the library, because which random
numbers the notebook draws depends on the estimator.

- `draws`: everything random in a run, which is the mean model, the tasks and their batches.
- `learners`: the five estimators, from the batches to the models that are planned with.
- `losses`: planning, the losses of a run, and of many runs.
- `schedules`: the schedules of gamma and the curves of the figures about them.
- `agreement`: comparisons with what the notebook prints and with the curves of its figures.
- `library`: comparisons of the library's version of the experiment, whose mean losses are `notebook_loss.csv` of the
  study `pomrl`.
"""

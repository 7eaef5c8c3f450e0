"""Turn YAML files and command lines into checked objects.

`sources` finds options and sweeps, `composition` composes each job with Hydra to plain data (`composed`), and `parsing`
makes an `Experiment`. `sweeps` does all this for a named sweep, under a variant (`variants`) of a study (`study`).
`settings` selects the values in a signature.
"""

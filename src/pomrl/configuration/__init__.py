"""Turn YAML files and command lines into checked objects; nothing is computed.

1. `sources`: folders of options and sweeps, `conf/` and the user's.
2. `composition`: Hydra composes each job to plain data (`composed`).
3. `parsing`: plain data becomes an `Experiment`, or an error of one line.

`sweeps` does all three for a named sweep, under a variant (`variants`) of a study (`study`). `settings` are what a
signature covers.
"""

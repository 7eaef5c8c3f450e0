"""Checked objects from YAML files and a command line.

1. `sources`: the folders of options and sweeps, `conf/` and those of the user.
2. `composition`: Hydra composes the options and overrides of each job of a sweep to plain data (`composed`).
3. `parsing`: plain data becomes an `Experiment` of typed, checked objects, or an error of one line.

`sweeps` does all three for a sweep by its name, under a variant (`variants`) of a study (`study`). `settings` of an
experiment are what its signature covers, and what people compare. Nothing here computes a result.
"""

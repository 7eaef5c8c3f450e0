"""Turn YAML files and command lines into checked objects.

1. `sources` finds folders of options and sweeps. 2. `composition` composes each job with Hydra to plain data
(`composed`). 3. `parsing` makes an `Experiment` from plain data, or an error of one line.

`sweeps` does all three for a named sweep, under a variant (`variants`) of a study (`study`). `settings` are the part
covered by a signature.
"""

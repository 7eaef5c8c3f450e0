"""This package makes checked objects of YAML files and a command line.

A configuration passes through here in one direction, and once:

1. `sources`: the folders that options and sweeps are read from, `conf/` and one of the user's own.
2. `composition`: Hydra puts the options and overrides of each job of a sweep together; the result is plain data.
3. `parsing`: plain data becomes an `Experiment` of typed, checked objects, or one line says what is wrong with it.

`sweeps` does all three for a sweep by its name, and `variants` describes the changes under which sweeps are repeated;
`study` reads the description of a study. From an `Experiment` follow its `settings` (what its signature
covers, and what people compare). Nothing here computes a result.
"""

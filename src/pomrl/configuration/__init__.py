"""This package makes checked objects of YAML files and a command line.

A configuration passes through here in one direction, and once:

1. `sources`: the folders that options and sweeps are read from, `conf/` and one of the user's own.
2. `composition`: Hydra puts the options and overrides of each job of a sweep together; the result is plain data.
   `composition_cache` keeps it on disk, because Hydra takes long.
3. `parsing`: plain data becomes an `Experiment` of typed, checked objects, or one line says what is wrong with it.

`studies` does all three for the published sweeps (`conf/experiment/*.yaml`), and `readings` describes the family of
readings of the paper under which they are repeated. From an `Experiment` follow its `settings` (what its signature
covers, and what people compare) and the quantities in `derived`; `reference` writes docs/configuration.md from the
components. `outputs` names the folder that everything computed is kept in. Nothing here computes a result.
"""

"""The store of experiments: a folder for each experiment, named by its signature, with blocks of runs as Parquet files.

    outputs/runs/<signature>/
      config.yaml                  its scientific settings, which give the signature
      runs-000000-000049.parquet   a block of runs, with the signature and the runs in its own metadata
      blocks.jsonl                 which blocks are complete, with the digest of each
      manifest.json                versions, provenance and whether the computation came to its end
      run.log

A block is used only if it is in the list, if its file has the digest in the list, and if the file names this experiment
and these runs. A process that is killed loses at most the block that it is computing. A lock file keeps two processes
from writing to a folder at once.
"""

# These are the names that other rooms use.
# ruff: noqa: F401
# pyright: reportUnusedImport=false

from pomrl.store.blocks import StoredBlock
from pomrl.store.finding import all_experiments, by_signature, find, load, lookup, only_copies
from pomrl.store.layout import BLOCK, StoreError, root
from pomrl.store.provenance import Provenance
from pomrl.store.reading import StoredExperiment, aligned, missing
from pomrl.store.signatures import signature
from pomrl.store.writing import add_blocks, close_experiment, label, log, open_experiment, remove

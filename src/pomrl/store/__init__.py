"""The store of experiments (`experiments`), and files that are made of what is stored (`derived`)."""

# These are the names that other rooms use.
# ruff: noqa: F401
# pyright: reportUnusedImport=false

from pomrl.store.block_files import StoredBlock
from pomrl.store.experiments import (
    add_block,
    aligned,
    all_experiments,
    by_signature,
    close_experiment,
    find,
    label,
    load,
    log,
    lookup,
    missing,
    open_experiment,
    signature,
)
from pomrl.store.layout import BLOCK, StoreError, root
from pomrl.store.provenance import Provenance
from pomrl.store.stored_experiments import StoredExperiment

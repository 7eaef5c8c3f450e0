"""Store experiments (`experiments`), derived files and simulated tables (`derived`), and archives (`archives`)."""

# The names imported by other packages.
# ruff: noqa: F401
# pyright: reportUnusedImport=false

from pomrl.store.block_files import StoredBlock
from pomrl.store.experiments import (
    add_block,
    all_experiments,
    by_signature,
    complete,
    divide_into_blocks,
    find,
    find_missing,
    label,
    load,
    log,
    lookup,
    missing_runs,
    open_experiment,
    remove,
    repair,
    signature,
    usable_experiments,
)
from pomrl.store.files import BLOCK, StoreError, StoreWarning, root
from pomrl.store.manifests import Provenance
from pomrl.store.stored_experiments import StoredExperiment

#!/usr/bin/env bash
# Reproduces the paper: environment, sweeps, figures, claims, and a report of it all: outputs/report/index.html.
#   ./reproduce.sh [all]     at the paper's numbers of runs
#   ./reproduce.sh quick     with few runs
#   ./reproduce.sh readings  the claims under every reading of the paper's text, and in fifty environments
#   ./reproduce.sh test      the environment and the tests, nothing else
set -euo pipefail
cd "$(dirname "$0")"
export PIP_DISABLE_PIP_VERSION_CHECK=1

SWEEPS=(
    task_similarity illustration gamma_schedules gamma_0 samples_and_tasks states_20 states_30
    gaussian_tasks varying_pairs varying_pairs_without_meta fixed_mean_model
    theory mixing_rates initial_similarity
)

# Those with ada-POMRL, for which the example of docs/extending.md stands in.
EXTENDED=(task_similarity gamma_schedules samples_and_tasks states_20 states_30 initial_similarity)

main() {
    case "${1:-all}" in
        all) environment; sweeps; extension; results ;;
        quick) environment; sweeps runs=20; extension runs=20; results ;;
        readings) environment; readings; times ;;
        test) environment; tests ;;
        *) echo "usage: ./reproduce.sh [all | quick | readings | test]" >&2; exit 2 ;;
    esac
}

# Makes .venv from the lock file, again whenever that, the project's files or the source of the engine change.
environment() {
    local digest
    digest=$(cat requirements.lock pyproject.toml setup.py src/pomrl/solvers/*.c | cksum)
    if [ "$(cat .venv/made-from 2>/dev/null)" = "$digest" ]; then return; fi
    stage environment make_environment
    echo "$digest" > .venv/made-from
}

make_environment() {
    local python
    python=$(supported_python)
    "$python" -m venv --clear .venv
    .venv/bin/pip install --quiet --require-hashes -r requirements.lock
    .venv/bin/pip install --quiet --no-deps --editable .
}

supported_python() {
    local candidate
    for candidate in python3 python3.13 python3.12 python3.11 python; do
        if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "no Python 3.11, 3.12 or 3.13 was found; install one of them" >&2
    exit 1
}

sweeps() {
    local sweep
    for sweep in "${SWEEPS[@]}"; do
        stage "$sweep" .venv/bin/python -m src.run "experiment=$sweep" "$@"
    done
}

extension() {
    local sweep
    for sweep in "${EXTENDED[@]}"; do
        stage "$sweep, extended" .venv/bin/python -m src.run --config-dir examples/conf \
            "experiment=$sweep" estimator=empirical_bayes "$@"
    done
}

results() {
    local instead=(--config-dir examples/conf --replace ada_pomrl=empirical_bayes)
    stage figures .venv/bin/python -m src.figures
    stage "figures, extended" .venv/bin/python -m src.figures "${instead[@]}" dependence_on_tasksimilarity planning_omrl
    stage "claims, extended" .venv/bin/python -m src.claims "${instead[@]}"
    stage claims .venv/bin/python -m src.claims
    stage report .venv/bin/python -m src.report
    times
    cat "${POMRL_OUTPUTS:-outputs}/scorecard.md"
}

readings() {
    stage readings .venv/bin/python -m src.run experiment=readings
    stage environments .venv/bin/python -m src.run experiment=environments
    stage matrix .venv/bin/python -m src.claims --readings
    stage shares .venv/bin/python -m src.claims --environments
}

tests() {
    .venv/bin/ruff check .
    .venv/bin/ruff format --check .
    .venv/bin/pyright
    .venv/bin/python -m pytest -q -n auto --dist loadfile --cov --cov-report=term
}

# Runs a command and remembers how long it took.
STAGES=()
stage() {
    local name=$1 start=$SECONDS
    shift
    echo "== $name" >&2
    "$@"
    STAGES+=("$(printf '%-28s %4d s' "$name" $((SECONDS - start)))")
}

times() { printf '%s\n' "${STAGES[@]}" >&2; }

main "$@"

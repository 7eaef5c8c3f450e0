#!/usr/bin/env bash
# Reproduces the paper: environment, sweeps, figures, claims, and a report of it all: outputs/report/index.html.
#   ./reproduce.sh [all]     at the paper's numbers of runs
#   ./reproduce.sh quick     with few runs
#   ./reproduce.sh beyond    what goes beyond the paper: experiments, claims of ours, figures, and the report anew
#   ./reproduce.sh readings  the claims under every reading of the paper's text, and in fifty environments
#   ./reproduce.sh ledger    what each difference between the paper's text and its authors' notebook does
#   ./reproduce.sh test      the environment and the tests, nothing else
#   ./reproduce.sh environment  the environment of the tests alone
set -euo pipefail
cd "$(dirname "$0")"
export PIP_DISABLE_PIP_VERSION_CHECK=1

main() {
    case "${1:-all}" in
        all) environment requirements.lock; reproduce ;;
        quick) environment requirements.lock; reproduce --runs 20 ;;
        beyond) environment requirements-test.lock; beyond ;;  # with Gymnasium
        readings) environment requirements.lock; readings; times ;;
        ledger) environment requirements.lock; ledger; times ;;
        test) environment requirements-test.lock; tests ;;
        environment) environment requirements-test.lock ;;
        *) echo "usage: ./reproduce.sh [all | quick | beyond | readings | ledger | test | environment]" >&2; exit 2 ;;
    esac
}

# Makes .venv from a lock file, again whenever that, the project's files or the source of the engine change. What the
# tests are run with is enough for everything else.
environment() {
    local lock=$1 made
    made=$(cat .venv/made-from 2>/dev/null || true)
    if [ "$made" = "$(digest "$lock")" ] || [ "$made" = "$(digest requirements-test.lock)" ]; then return; fi
    stage environment make_environment "$lock"
    digest "$lock" > .venv/made-from
}

digest() { cat "$1" pyproject.toml setup.py src/pomrl/science/solvers/*.c | cksum; }

make_environment() {
    local lock=$1 python
    python=$(supported_python)
    "$python" -m venv --clear .venv
    sed -n '/^setuptools==/,/# via/p' "$lock" > .venv/build.txt
    install --require-hashes --requirement .venv/build.txt
    install --require-hashes --requirement "$lock"
    install --no-deps --editable .
}

# What is built here is built with the locked version of setuptools.
install() { .venv/bin/pip install --quiet --use-pep517 --no-build-isolation "$@"; }

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

reproduce() {
    .venv/bin/python -m src.reproduce "$@"
    cat "${POMRL_OUTPUTS:-outputs}/scorecard.md"
}

beyond() { .venv/bin/python -m src.reproduce --beyond; }

readings() {
    stage environments .venv/bin/python -m src.run experiment=environments
    stage matrix .venv/bin/python -m src.claims --readings --decide --budget 900
    stage shares .venv/bin/python -m src.claims --environments
}

ledger() {
    local sweeps=notebook_ledger,task_similarity,gamma_schedules,gamma_0
    stage "text and notebook" .venv/bin/python -m src.run -m experiment="$sweeps"
    stage ledger .venv/bin/python -m src.ledger
}

tests() {
    .venv/bin/ruff check .
    .venv/bin/ruff format --check .
    .venv/bin/pyright
    .venv/bin/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder
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

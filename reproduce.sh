#!/usr/bin/env bash
# Reproduces the paper: environment, sweeps, claims, figures, and a report of it all.
#   ./reproduce.sh [all]     the published answer, digit by digit
#   ./reproduce.sh quick     with few runs
#   ./reproduce.sh beyond    the study of what goes beyond the paper
#   ./reproduce.sh test      the environment and the tests but those that are slow by nature, nothing else
#   ./reproduce.sh test all  the environment, all tests, shapes and types
#   ./reproduce.sh environment  the environment of the tests alone
set -euo pipefail
cd "$(dirname "$0")"
export PIP_DISABLE_PIP_VERSION_CHECK=1

main() {
    case "${1:-all}" in
        all)
            expected_time
            environment requirements.lock
            .venv/bin/pomrl reproduce pomrl2023
            ;;
        quick) environment requirements.lock; .venv/bin/pomrl reproduce pomrl2023 --runs 20 ;;
        beyond) environment requirements-test.lock; .venv/bin/pomrl reproduce beyond ;;  # with Gymnasium
        test) environment requirements-test.lock; tests "${2:-}" ;;
        environment) environment requirements-test.lock ;;
        *) echo "usage: ./reproduce.sh [all | quick | beyond | test [all] | environment]" >&2; exit 2 ;;
    esac
}

# Says how long the published study takes here; needs no package.
expected_time() {
    local python
    python=$(supported_python)
    PYTHONPATH=src "$python" -m pomrl.commands.expected_time src/pomrl_studies/pomrl2023/pages/times.csv
}

# Makes .venv from a lock file, again whenever that, the projects' files or the source of the engine change. What the
# tests are run with is enough for everything else; to what everything else is run with, what the tests need is added.
environment() {
    local lock=$1 made
    made=$(cat .venv/made-from 2>/dev/null || true)
    if [ "$made" = "$(digest "$lock")" ] || [ "$made" = "$(digest requirements-test.lock)" ]; then return; fi
    echo "== environment" >&2
    if [ "$made" = "$(digest requirements.lock)" ]; then install_packages "$lock"; else make_environment "$lock"; fi
    digest "$lock" > .venv/made-from
}

digest() { cat "$1" pyproject.toml packages/*/pyproject.toml setup.py src/pomrl/science/*.[ch] src/pomrl/science/*/*.c | cksum; }

make_environment() {
    local lock=$1 python engine package
    python=$(supported_python)
    "$python" -m venv --clear .venv
    sed -n '/^setuptools==/,/# via/p' "$lock" > .venv/build.txt
    install --require-hashes --requirement .venv/build.txt
    install --no-deps --editable . & engine=$!  # beside the packages, because its compiler keeps one core busy
    install_packages "$lock"
    wait "$engine"
    for package in packages/*/; do install --no-deps --editable "$package"; done
}

# A lock file is complete, so that nothing is left to resolve.
install_packages() {
    install --no-deps --require-hashes --requirement "$1"
    compile_packages
}

# What packages have for their own tests is never imported, and some have files that are no Python. Of the large packages
# that are left out too, little is imported, and that is compiled when it is.
NOT_COMPILED='/(tests|sympy|debugpy|pip|prompt_toolkit|jedi)/'
compile_packages() { .venv/bin/python -m compileall -qq -j 0 -x "$NOT_COMPILED" .venv/lib src packages || true; }

# What is built here is built with the locked version of setuptools. uv, where there is one, takes a third of the time.
install() {
    if command -v uv >/dev/null; then
        uv pip install --quiet --python .venv/bin/python --no-build-isolation "$@"
    else
        .venv/bin/pip install --quiet --no-compile --use-pep517 --no-build-isolation "$@"
    fi
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

tests() {
    .venv/bin/ruff check .
    .venv/bin/ruff format --check .
    case "$1" in
        "") run_tests -m "not slow" ;;
        all) all_tests ;;
        *) echo "usage: ./reproduce.sh test [all]" >&2; exit 2 ;;
    esac
}

# What has the shapes of its arguments and results checked, in the first calls of each function in each test.
SHAPES=pomrl.science,pomrl.priors,pomrl.bounds,pomrl_logs,pomrl_studies.pomrl2023.theory

all_tests() {
    local types failed=0
    .venv/bin/pyright >.venv/types.txt 2>&1 & types=$!  # beside the tests, because it keeps one core busy at most
    run_tests "--jaxtyping-packages=$SHAPES,tests.support.shapes.first_calls" || failed=1
    wait "$types" || failed=1
    cat .venv/types.txt
    return "$failed"
}

run_tests() { .venv/bin/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder "$@"; }

main "$@"

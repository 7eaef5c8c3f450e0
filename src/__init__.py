"""`python -m src.run` is `pomrl run`. The other modules that were here are commands of `pomrl`, and are answered so."""

import sys

_NAMES = ("claims", "diff", "figures", "horizon", "plot", "report", "reproduce", "runs", "table")

FORMER = {name: f"pomrl {name}" for name in _NAMES} | {"ledger": "pomrl documents pomrl"}
"""The commands that do now what the modules did."""

if sys.argv[:1] == ["-m"] and "-m" in sys.orig_argv[:-1]:
    module = sys.orig_argv[sys.orig_argv.index("-m") + 1].removeprefix("src.")
    sys.path.append(sys.path.pop(0))  # the current folder, in which modules would hide those of libraries
    if module in FORMER:
        sys.exit(f"python -m src.{module}: it is now {FORMER[module]}; pomrl --help lists the commands")

"""Run one experiment, or a sweep of them, and store the results: `python -m src.run --help`."""

import sys

if __name__ == "__main__":
    sys.path.append(sys.path.pop(0))  # the current folder, in which modules would hide those of libraries

    from pomrl.commands.run import main

    main()

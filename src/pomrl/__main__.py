"""Run the command `pomrl` as `python -m pomrl`."""

import sys

if __name__ == "__main__":
    del sys.path[0]  # modules in the current folder would hide libraries, and become plugins of Hydra

    from pomrl.commands.entry import main

    main()

"""`python -m pomrl` is the command `pomrl`."""

import sys

if __name__ == "__main__":
    del sys.path[0]  # the current folder, whose modules would hide those of libraries, and be plugins of Hydra

    from pomrl.commands.entry import main

    main()

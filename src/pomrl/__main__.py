"""`python -m pomrl` is the command `pomrl`."""

import sys

if __name__ == "__main__":
    sys.path.append(sys.path.pop(0))  # the current folder, in which modules would hide those of libraries

    from pomrl.commands.main import main

    main()

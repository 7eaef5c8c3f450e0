"""Run `python -m verdicts`."""

import sys

from verdicts.command import main

sys.exit(main())

"""Make the generated documents: `python -m docs.build`."""

from docs.build.documents import main

main()

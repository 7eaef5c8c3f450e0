"""`python -m docs.build` makes the generated documents."""

from docs.build.documents import main

main()

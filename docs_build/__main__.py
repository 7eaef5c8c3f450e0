"""`python -m docs_build` makes the generated documents."""

from docs_build.documents import main

main()

"""Write the HTML pages, documents and article of a study.

`html_pages` and `templates/` make `report/index.html` from these files (and modules):

    claims.csv: judging, answer
    figures/NAME.{png,csv,json}: figure_files
    runs/: curves, provenance
    pages/: documents, markup

Files are checked against digests (`pomrl.store.derived`). Equal inputs give equal bytes. A page shows the command for
each missing piece.
"""

from pomrl.configuration.importing import require_extra

require_extra("report", ("jinja2", "latex2mathml", "markdown_it", "markupsafe", "mdit_py_plugins", "PIL"))

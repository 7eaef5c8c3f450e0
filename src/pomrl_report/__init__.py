"""The report: one HTML page of a study, written by `pomrl report`, that needs no other file and no network.

Data flow from a study and its outputs through the modules of this package to the page:

    claims.csv                    ->  judging.judgements, answer     ->
    figures/NAME.{png,csv,json}   ->  figure_files                   ->  page, templates/  ->  report/index.html
    runs/ (blocks, manifests)     ->  curves, provenance             ->
    pages/*.md, *.py, *.html      ->  pages, markup                  ->

Every file that is shown is checked against the digest in the sidecar of its set (`pomrl.store.derived`); what is
damaged is refused. Nothing is simulated or judged here; only the means over runs for the interactive curves are
computed. No clock is read, so that equal inputs give equal bytes. The page names each piece that is missing, with the
command that makes it.
"""

"""The report beside the engine: pages of studies and of selections in HTML, documents, and the article.

Stages of `pomrl reproduce` (`stages`) and the commands `view` and `docs` are entry points. Each page is one file that
needs no other and no network:

    claims.csv                    ->  judging, answer                ->
    figures/NAME.{png,csv,json}   ->  figure_files                   ->  html_pages, templates/  ->  report/index.html
    runs/ (blocks, manifests)     ->  curves, provenance             ->
    pages/*.md, *.py, *.html      ->  documents, markup              ->

Every file is checked against the digest in its sidecar (`pomrl.store.derived`). Nothing is simulated or judged here,
and no clock is read: equal inputs give equal bytes. A page names each piece that is missing, with its command.
"""

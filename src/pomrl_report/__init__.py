"""The report beside the engine: HTML pages of studies and selections, documents, and the article.

Stages of `pomrl reproduce` (`stages`) and the commands `view` and `docs` are entry points. Each page is one file, and
needs no network:

    claims.csv                    ->  judging, answer                ->
    figures/NAME.{png,csv,json}   ->  figure_files                   ->  html_pages, templates/  ->  report/index.html
    runs/ (blocks, manifests)     ->  curves, provenance             ->
    pages/*.md, *.py, *.html      ->  documents, markup              ->

Every file is checked against its sidecar's digest (`pomrl.store.derived`). Nothing is simulated or judged here, and
equal inputs give equal bytes. A page names each missing piece with its command.
"""

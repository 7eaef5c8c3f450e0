"""The report beside the engine: HTML pages, documents, and the article.

Stages of `pomrl reproduce` and the commands `view` and `docs` are entry points:

    claims.csv                    ->  judging, answer                ->
    figures/NAME.{png,csv,json}   ->  figure_files                   ->  html_pages, templates/  ->  report/index.html
    runs/ (blocks, manifests)     ->  curves, provenance             ->
    pages/*.md, *.py, *.html      ->  documents, markup              ->

Files are checked against digests (`pomrl.store.derived`). Equal inputs give equal bytes. A page names each missing
piece with its command.
"""

"""The report: what is stored and drawn, as one page that needs nothing but itself.

    folder (outputs/)                          ->  Page                           ->  index.html
    figures/NAME.*, claims.csv, readings.csv,      figures, scorecard, matrix,        templates/, with the script
    runs/*/manifest.json                           curves, origins                    that draws the curves inside

Nothing is computed here but means over runs for the interactive curves, and nothing is read from clocks, so that equal
inputs give equal bytes. What is missing is named on the page, with the command that makes it.
"""

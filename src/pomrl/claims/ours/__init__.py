"""Claims of ours, which go beyond the paper: a module for each question.

The rules were fixed before the data were seen, on seeds on which nothing had been chosen. Claims of ours are judged by
the machinery that judges those of the paper, and shown apart from them. They share an error of 5 % of their own, which
is spent over analyses at more and more runs. Where a rule names the level of an interval, the claim takes no share of
it, and has one analysis, of the number of runs that its sweep has in its YAML file. The words are those of the paper's
claims, but the margin of "no worse" is 2 % unless a rule names another.
"""

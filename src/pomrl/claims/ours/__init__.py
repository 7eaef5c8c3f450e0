"""Claims of ours, which go beyond the paper: a module for each question.

The rules were fixed before the data were seen, on seeds on which nothing had been chosen. Claims of ours are judged by
the machinery that judges those of the paper, and shown apart from them. They share an error of 5 % of their own, which
is spent over analyses at more and more runs. Where a rule names the level of an interval, the claim has one analysis
instead, of the number of runs that its sweep has in its YAML file. Where a rule says "no worse" or "at most", its margin
is 2 %, and the words mean otherwise what they mean in claims of the paper.
"""

"""The claims of the paper: a module for each of its questions, and for the appendix, Figure 2 and the theory."""

"""Name the colours of figures.

Options, such as estimators, have their colours in `looks.yaml`. Colours of other series have a name below.
"""

# Paul Tol's palette "muted" (personal.sron.nl/~pault)
INDIGO = "#332288"
ROSE = "#CC6677"
FOREST = "#117733"
CYAN = "#88CCEE"
WINE = "#882255"
SAND = "#DDCC77"
TEAL = "#44AA99"
PURPLE = "#AA4499"
OLIVE = "#999933"

MUTED = (INDIGO, ROSE, FOREST, CYAN, WINE, SAND, TEAL, PURPLE, OLIVE)

# seaborn's palette "colorblind"
BLUE = "#0173b2"
ORANGE = "#de8f05"
GREEN = "#029e73"
VERMILION = "#d55e00"

# the palette of Okabe and Ito, which has the same vermilion
DEEP_BLUE = "#0072b2"
AMBER = "#e69f00"
EMERALD = "#009e73"
ORCHID = "#cc79a7"
SKY_BLUE = "#56b4e9"

# other colours
STEEL_BLUE = "#4477AA"
VIOLET = "#4b0092"
BRONZE = "#7a6a00"
DARK_RED = "#a02020"
DARK_GREY = "#444444"
GREY = "#777777"
LIGHT_GREY = "#999999"

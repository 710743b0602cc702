"""The colors of the figures: each algorithm has the same color everywhere."""

INK, SOFT = "#333333", "#555555"  # of titles, axes and optima; of notes

# Color-blind safe, after Okabe and Ito.
BLUE, SKY, GREEN, ROSE = "#0072B2", "#56B4E9", "#009E73", "#CC79A7"
VERMILION, AMBER, BLACK = "#D55E00", "#E69F00", "#000000"
GRAY, SILVER = "#777777", "#999999"
NIGHT, BLUSH = "#004469", "#E7BBD3"  # a dark blue, and a light rose

# The name and the color of each algorithm.
STYLES = {
    "ucls": ("UCLS", BLUE),
    "ucls-exact": ("UCLS-Exact", BLACK),
    "ucls-plan": ("UCLS-Plan", "#7B3FA0"),
    "ucls-p": ("UCLS, scale swept", NIGHT),
    "ucls-counts": ("UCLS, counts only", GRAY),
    "ucls-l": ("UCLS-L", SKY),
    "gv-ucb": ("GV-UCB", ROSE),
    "gv-ucb-corrected": ("GV-UCB, corrected", "#8C3F6B"),
    "ucbootstrap": ("UCBootstrap", GREEN),
    "dgpq": ("DGPQ", AMBER),
    "lspi-rmax": ("LSPI-Rmax", "#6F6F6F"),
    "rlsvi": ("RLSVI", "#8B5A2B"),
    "sarsa-optimistic": ("Sarsa, optimistic", VERMILION),
    "sarsa-epsilon": ("Sarsa, epsilon-greedy", "#B8A100"),
}

# LSTD's variants, in colors of Tol's muted scheme, which no algorithm has.
LSTD = {"LSTD-in-C": "#44AA99", "LSTD-in-F": "#117733", "LSTD-out-C": "#882255", "LSTD-out-F": "#AA4499"}

# Sequences from light to dark.
BLUES = ("#BBBBBB", "#7FB2D6", "#2F86C0", NIGHT)
ORANGES = ("#F3CBA9", "#E89A5B", VERMILION)
VIOLETS = ("#A6CEE3", "#5BA3CF", "#1F78B4", "#6A3D9A", "#2D0A4E")

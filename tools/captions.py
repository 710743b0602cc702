"""Captions of the figures of the shipped reproduction, written after looking at each: the finding first."""

from typing import NamedTuple


class Caption(NamedTuple):
    """What a figure shows, and the finding in it."""

    shows: str
    finding: str


CAPTIONS = {
    "figure-1": Caption(
        "Figure 1: learning curves of UCLS (untuned) and the tuned baselines.",
        "UCLS (blue) reaches the optimum of River Swim after 7,000 steps, and DGPQ comes close. In Puddle World "
        "LSPI-Rmax ends significantly better than UCLS (lower is better there).",
    ),
    "figure-1-episodes": Caption(
        "Figure 1 over episodes, as in the paper.",
        "Short lines are slow learners: a line ends where no run finished more episodes. RLSVI has a million steps in "
        "Puddle World, twenty times as many as the others.",
    ),
    "figure-2": Caption(
        "Figure 2: sensitivity of UCLS and GV-UCB to p in River Swim.",
        "UCLS reaches the optimum for every p except the smallest, and GV-UCB as printed for none (left). UCLS with a "
        "pure visit-count bonus (gray, right) collects as much reward, except for the smallest p.",
    ),
    "figure-3": Caption(
        "Figure 3: LSTD without exploration in Mountain Car.",
        "With the regularizer inside the matrix (green), both variants learn in every run. With the regularizer "
        "outside (purple), one variant learns late and the other does not.",
    ),
    "figure-5": Caption(
        "Figure 5: One-State: fraction of runs that end with the better action.",
        "Without epsilon (left), a third of LSTD's runs choose the better action, whatever the regularizer. A decaying "
        "epsilon (right) helps, but decays too fast.",
    ),
    "figure-6": Caption(
        "Figure 6: UCLS, and UCLS-L with tuned settings.",
        "UCLS-L (light) learns River Swim sooner than UCLS, and both stay at the optimum. In Sparse Mountain Car, UCLS "
        "with a tuned scale (dark) is the fastest.",
    ),
    "figure-7": Caption(
        "Figure 7: additional baselines; Sarsa and DGPQ are tuned.",
        "Optimistic Sarsa (red) is near the optimum in all three domains, and ahead of UCLS in the first two. GV-UCB "
        "fails outside Puddle World.",
    ),
    "figure-8": Caption(
        "Figure 8: best and worst runs of UCLS and DGPQ.",
        "In River Swim even the worst run of UCLS reaches the optimum after 7,000 steps and stays there; the worst run "
        "of DGPQ (dashed orange) repeatedly loses it.",
    ),
    "figure-9": Caption(
        "Figure 9: values of the final policies in River Swim.",
        "The final policies of UCLS are optimal (left). Those of GV-UCB stay at the left end of the river and lose "
        "nearly all of the value there.",
    ),
    "mountain-car": Caption(
        "Classic Mountain Car, over steps and over episodes.",
        "UCLS (blue) is near the optimum after 20,000 steps; DGPQ stays at several hundred steps per episode.",
    ),
    "theorem": Caption(
        "The Optimistic Values Theorem in River Swim, from the start states.",
        "Optimism (green) is negative almost everywhere, yet the regret of UCLS (red) falls to 0; that of GV-UCB does "
        "not.",
    ),
}


def picture(name: str) -> str:
    """A figure with its caption, a paragraph in italics, as Markdown."""
    caption = CAPTIONS[name]
    return f"![{caption.shows}]({name}.png)\n\n*{caption.finding} {caption.shows}*"


def pictures() -> str:
    """Every figure with its caption, as Markdown."""
    return "\n\n".join(map(picture, CAPTIONS))

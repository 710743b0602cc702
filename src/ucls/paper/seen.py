"""What to see in the figures of the shipped reproduction: a caption for each, written after looking at it."""

from typing import NamedTuple


class Seen(NamedTuple):
    """What a figure shows, and what there is to see in it."""

    shows: str
    see: str


SEEN = {
    "figure-1": Seen(
        "Figure 1. Learning curves of UCLS, untuned, and its tuned competitors, with 95% bands.",
        "See River Swim: UCLS (blue) is at the optimum after 7,000 steps, and DGPQ comes close. In Puddle World "
        "LSPI-Rmax ends clearly below UCLS, which is better there.",
    ),
    "figure-1-episodes": Seen(
        "Figure 1 over episodes, as the paper prints it.",
        "See where lines end: no run finished more episodes than that, so short lines are slow learners. RLSVI has a "
        "million steps in Puddle World, twenty times those of the others.",
    ),
    "figure-2": Seen(
        "Figure 2. How UCLS and GV-UCB depend on the confidence p in River Swim.",
        "See the left panel: UCLS reaches the optimum but for the smallest p. GV-UCB as printed never does. On the "
        "right, UCLS that only counts visits (gray) earns as much, but for the smallest p.",
    ),
    "figure-3": Seen(
        "Figure 3. LSTD without exploration in Mountain Car, its regularizer inside the matrix or outside.",
        "See the left panel: both variants inside (green) learn in every run. Those outside (purple) are late, and "
        "one of them never gets there.",
    ),
    "figure-5": Seen(
        "Figure 5. The One-State world: how many runs end at the better action.",
        "See the left panel: without epsilon a third of LSTD's runs do, whatever the regularizer. On the right some "
        "epsilon at first helps, and is gone too soon.",
    ),
    "figure-6": Seen(
        "Figure 6. UCLS, and UCLS-L with its settings tuned.",
        "See River Swim: UCLS-L (light) learns sooner, and both stay at the optimum. In Sparse Mountain Car UCLS with "
        "its scale tuned too (dark) is the fastest.",
    ),
    "figure-7": Seen(
        "Figure 7. Additional methods, Sarsa and DGPQ tuned.",
        "See optimistic Sarsa (red): near the optimum in all three domains, and ahead of UCLS in the first two. GV-UCB "
        "fails outside Puddle World.",
    ),
    "figure-8": Seen(
        "Figure 8. The best and the worst run of UCLS and of DGPQ.",
        "See River Swim: the worst run of UCLS is at the optimum after 7,000 steps and stays. That of DGPQ (dashed "
        "orange) loses the way again and again.",
    ),
    "figure-9": Seen(
        "Figure 9. What the final policies are worth in River Swim.",
        "See the left panel: the policies of UCLS lie on the optimum. Those of GV-UCB stay at the bottom of the river, "
        "on the left, and lose nearly all there.",
    ),
    "mountain-car": Seen(
        "Classic Mountain Car, over steps and over episodes.",
        "See UCLS (blue): after 20,000 steps it is near the optimum. DGPQ stays at several hundred steps an episode.",
    ),
    "theorem": Seen(
        "The Optimistic Values Theorem along runs in River Swim, from the start states.",
        "See the green line: optimism is below 0 nearly always. The regret of UCLS (red) falls to 0 all the same, that "
        "of GV-UCB does not.",
    ),
}


def picture(name: str, says: str = "") -> str:
    """A figure with its caption, a paragraph in italics, as Markdown; `says` is what it shows, where that is known."""
    seen = SEEN[name]
    words = seen.see if says else " ".join(seen)
    return f"![{says or seen.shows}]({name}.png)\n\n*{words}*"


def pictures() -> str:
    """Every figure with its caption, as Markdown."""
    return "\n\n".join(map(picture, SEEN))

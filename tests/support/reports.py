"""A report of made-up claims and numbers."""

from ucls.paper.report import Opening, Reference, Verdict, write_report

CLAIMS = (
    {
        "number": 1,
        "claim": "UCLS has the best final performance in all three domains.",
        "measured": "probability that UCLS beats the best rival, paired by seed",
        "effect": "0.62 (0.41 to 0.80)",
        "kind": Verdict.UNDECIDED,
        "verdict": "inconclusive",
        "why": "The interval holds one half.",
        "figure": "figure-1",
    },
    {
        "number": 5,
        "claim": "Every p reaches the optimum; <b>smaller</b> is slower.",
        "measured": "reward of the last fifth & its interval",
        "effect": "97% (92 to 99)",
        "kind": Verdict.REPRODUCED,
        "verdict": "reproduced",
        "why": "",
        "figure": "figure-2",
    },
    {
        "number": 6,
        "claim": "UCLS clearly beats DGPQ in classic Mountain Car.",
        "measured": "difference in episodes",
        "effect": None,
        "kind": Verdict.NOT_REPRODUCED,
        "verdict": "not reproduced",
        "why": "DGPQ finishes 41 (12 to 60) more episodes.",
        "figure": None,
    },
    {
        "number": 17,
        "claim": "UCLS-L learns a better policy because its p was swept.",
        "measured": "steps of the last 20 episodes",
        "effect": "3.1 fewer (1.2 to 5.0)",
        "kind": Verdict.DEPENDS,
        "verdict": "sensitive to trace_threshold",
        "why": "Holds with beta, not with 0.",
        "figure": None,
    },
)


TABLES = [("Settings chosen by the sweeps", ["agent", "domain", "alpha"], [["sarsa", "River <Swim>", 0.01]])]


FACTS = {"ucls": "0.1.0", "seeds": "0 to 29", "numpy": "2.1", "steps per s": 123456.0, "versions": {"numba": "0.61"}}


OPENING = Opening(["UCLS <leads>."], "It took a minute.", [("ucls paper run --full", "more")])


def report(path, figures, claims=CLAIMS, reference=Reference("", {})):
    lead = "First.\n\nSecond & last."
    write_report(path, "The paper, <reproduced>", lead, claims, figures, TABLES, FACTS, OPENING, reference)
    return path.read_text(encoding="utf-8")

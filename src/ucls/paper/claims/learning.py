"""Claims about who learns, how fast and how well: 1 to 4, 6, 9, 10, 14, 15 and 17."""

from collections.abc import Callable

import numpy as np

from ucls.paper import figure_6, figure_7, figure_mountain_car, figure_theorem, table_causes
from ucls.paper.claims.check import Check, Claim, apart, at_least, better, decided, not_run, turned, within
from ucls.paper.domains import CLASSIC, DOMAINS, PUDDLE, RIVER, SPARSE
from ucls.paper.evidence import Evidence, optimum
from ucls.paper.groups import MAIN, Group, tuned, ucls
from ucls.paper.numbers import interval

RIVALS = ("ucbootstrap", "dgpq", "lspi-rmax", "rlsvi")
NEAR = 0.9  # of the optimum is close to it
LEARNED = 3.0  # times the optimal length: an agent with longer episodes has not learned a Mountain Car
ALIKE = 0.2  # a difference of less than this part is none
SD_RESAMPLES = 2000


def best_at_the_end(evidence: Evidence) -> Claim:
    """1: UCLS has the best final performance in all three domains."""

    def checks(in_puddle_world: Group) -> tuple[Check, ...]:
        made: list[Check] = []
        for env in MAIN:
            mine = evidence.final(in_puddle_world if env == PUDDLE else ucls(env))
            for key in RIVALS:
                theirs = evidence.final(tuned(key, env))
                made += better(evidence, mine, theirs, f"{DOMAINS[env].title}, at the end, UCLS less {key}")
        return tuple(made)

    sentence = "UCLS has the best final performance in all three domains."
    return _in_puddle_world(Claim(1, sentence, "figure-1", checks(ucls(PUDDLE))), checks)


def _in_puddle_world(claim: Claim, checks: Callable[[Group], tuple[Check, ...]]) -> Claim:
    """The claim, if need be with what its verdict turns on when UCLS is changed in Puddle World."""
    return turned(
        claim, {f"{name} in Puddle World": checks(group) for name, group in table_causes.other_ucls().items()}
    )


def learns_faster(evidence: Evidence) -> Claim:
    """2: UCLS is fastest in Sparse Mountain Car; DGPQ leads early in River Swim; both end near the optimum there."""
    rate = optimum(RIVER).reward_rate

    def checks(dgpq: str) -> tuple[Check, ...]:
        made: list[Check] = []
        for key in RIVALS:
            theirs = evidence.sample(tuned(dgpq if key == "dgpq" else key, SPARSE), "reward")
            mine = evidence.sample(ucls(SPARSE), "reward")
            made += better(evidence, mine, theirs, f"Sparse Mountain Car, goals reached, UCLS less {key}")
        early = [evidence.early(g, 0.1) for g in (tuned(dgpq, RIVER), ucls(RIVER))]
        made += better(evidence, early[0], early[1], "River Swim, reward of the first tenth, DGPQ less UCLS")
        for key, group in (("UCLS", ucls(RIVER)), ("DGPQ", tuned(dgpq, RIVER))):
            made += at_least(evidence.final(group).mean, NEAR * rate, f"River Swim, reward a step at the end, {key}")
        return tuple(made)

    reward = evidence.sample(ucls(RIVER), "reward").mean
    why = ""
    if reward.centre is not None:
        regret = rate * evidence.steps(ucls(RIVER)) - reward.centre
        why = f"UCLS's regret in River Swim is {regret:,.0f} on average; a commented line of the paper says about 1000."
    sentence = (
        "Sparse Mountain Car: UCLS learns faster than the others. River Swim: DGPQ learns faster at first; UCLS and "
        "DGPQ are close to the optimal policy at the end."
    )
    claim = Claim(2, sentence, "figure-1", checks("dgpq"), why=why)
    return turned(claim, {"the size of DGPQ's sweep": checks("dgpq-wide")})


def puddle_world(evidence: Evidence) -> Claim:
    """3: about 1200 episodes in Puddle World, UCBootstrap alike, DGPQ worse and of high variance."""
    mine = evidence.sample(ucls(PUDDLE), "episodes")
    scale = evidence.steps(ucls(PUDDLE)) / 50_000
    summary = mine.mean
    checks = within(summary, 1080 * scale, 1320 * scale, "episodes of UCLS, within a tenth of 1200", summary.runs)
    for measure, word in (("episodes", "episodes"), ("mean_return", "mean return of an episode")):
        ours, theirs = (evidence.sample(g, measure) for g in (ucls(PUDDLE), tuned("ucbootstrap", PUDDLE)))
        what = f"{word}, UCBootstrap less UCLS as a part of UCLS's"
        checks += apart(evidence, theirs, ours, -ALIKE, ALIKE, what, abs(ours.mean.centre or 1.0))
    returns = [evidence.sample(g, "mean_return") for g in (ucls(PUDDLE), tuned("dgpq", PUDDLE))]
    checks += better(evidence, returns[0], returns[1], "mean return, UCLS less DGPQ")
    checks += _more_spread(returns[1].scores, returns[0].scores, "spread of the mean return, log of DGPQ's over UCLS's")
    sentence = (
        "Puddle World: UCLS finishes about 1200 episodes in 50k steps; UCBootstrap learns at a similar rate; DGPQ is "
        "worse and has high variance."
    )
    return Claim(3, sentence, "figure-1", tuple(checks))


def _more_spread(wide: np.ndarray, narrow: np.ndarray, what: str) -> list[Check]:
    """Check that one sample spreads more than another, by a bootstrap of the ratio of standard deviations."""
    wide, narrow = wide[np.isfinite(wide)], narrow[np.isfinite(narrow)]
    if min(len(wide), len(narrow)) < 3 or np.ptp(wide) == 0 or np.ptp(narrow) == 0:
        return not_run(what)
    rng = np.random.default_rng(0)
    logs = []
    for _ in range(SD_RESAMPLES):
        a, b = rng.choice(wide, len(wide)).std(), rng.choice(narrow, len(narrow)).std()
        if a > 0 and b > 0:
            logs.append(np.log(a / b))
    low, high = np.quantile(logs, [0.025, 0.975])
    text = interval((np.log(wide.std() / narrow.std()), low, high))
    return [Check(what, text, decided(low > 0, high < 0), min(len(wide), len(narrow)))]


def others_do_poorly(evidence: Evidence) -> Claim:
    """4: LSPI-Rmax and RLSVI do poorly in all three."""
    checks: list[Check] = []
    for key in ("lspi-rmax", "rlsvi"):
        for env in MAIN:
            mine, theirs = evidence.final(ucls(env)), evidence.final(tuned(key, env))
            checks += better(evidence, mine, theirs, f"{DOMAINS[env].title}, at the end, UCLS less {key}")
    rate = optimum(RIVER).reward_rate
    often = evidence.final(figure_theorem.frequent_rlsvi()).mean
    rescued = often.centre is not None and often.low is not None and often.low >= NEAR * rate
    long = evidence.final(figure_theorem.long_rlsvi()).mean
    why = f"RLSVI sampled every 100 steps earns {interval(often)} a step in River Swim." if often.centre else ""
    if long.centre is not None:
        why += f" With a million steps in Puddle World it ends at a return of {interval(long)} ({long.runs} runs)."
    if rescued:
        why += " So its failure in River Swim is one of the schedule of sampling."
    sentence = "LSPI-Rmax and RLSVI do poorly in all three domains (RLSVI needs 1M steps in Puddle World)."
    return Claim(4, sentence, "figure-1", tuple(checks), why=why)


def classic_mountain_car(evidence: Evidence) -> Claim:
    """6: UCLS clearly beats DGPQ in classic Mountain Car."""
    shown = figure_mountain_car.shown()
    mine, theirs = (evidence.sample(shown[key], "mean_return") for key in ("ucls", "dgpq"))
    checks = better(evidence, mine, theirs, "mean return, UCLS less DGPQ")
    checks += better(evidence, evidence.final(ucls(CLASSIC)), evidence.final(shown["dgpq"]), "steps at the end")
    return Claim(6, "Classic Mountain Car: UCLS clearly beats DGPQ.", "mountain-car", tuple(checks))


def linear_version(evidence: Evidence) -> Claim:
    """9: UCLS-L has more regret early, is optimal by the end, and is faster in Sparse Mountain Car."""
    checks: list[Check] = []
    for env in (PUDDLE, RIVER):
        early = [evidence.early(g, 0.2) for g in (ucls(env), tuned("ucls-l", env))]
        word = "reward" if env == RIVER else "mean return"
        what = f"{DOMAINS[env].title}, {word} of the first fifth, UCLS less UCLS-L"
        checks += better(evidence, early[0], early[1], what)
    rate = optimum(RIVER).reward_rate
    end = evidence.final(tuned("ucls-l", RIVER)).mean
    checks += at_least(end, NEAR * rate, "River Swim, reward a step at the end, UCLS-L")
    goal = optimum(PUDDLE).episode_return / NEAR
    checks += at_least(evidence.final(tuned("ucls-l", PUDDLE)).mean, goal, "Puddle World, return at the end, UCLS-L")
    mine, theirs = (evidence.sample(g, "reward") for g in (tuned("ucls-l", SPARSE), ucls(SPARSE)))
    checks += better(evidence, mine, theirs, "Sparse Mountain Car, goals reached, UCLS-L less UCLS")
    sentence = (
        "UCLS-L: more regret early in Puddle World and River Swim, optimal by the end; faster than UCLS in Sparse "
        "Mountain Car."
    )
    return Claim(9, sentence, "figure-6", tuple(checks))


def optimistic_sarsa(evidence: Evidence) -> Claim:
    """10: optimistic Sarsa does remarkably well, GV-UCB at p = 0.5 poorly."""
    rate, cost = optimum(RIVER).reward_rate, optimum(PUDDLE).episode_return
    ends = {env: evidence.final(tuned("sarsa-optimistic", env)).mean for env in MAIN}
    checks = at_least(ends[RIVER], NEAR * rate, "River Swim, reward a step at the end of optimistic Sarsa")
    what = "Puddle World, return at the end of optimistic Sarsa, at most twice the optimal cost"
    checks += at_least(ends[PUDDLE], 2 * cost, what)
    what = "Sparse Mountain Car, steps at the end of optimistic Sarsa, at most three times the optimum"
    checks += within(ends[SPARSE], 0, LEARNED * optimum(SPARSE).episode_steps, what, ends[SPARSE].runs)
    for env in MAIN:
        mine, theirs = evidence.final(tuned("sarsa-optimistic", env)), evidence.final(figure_7.gv_ucb(env))
        checks += better(evidence, mine, theirs, f"{DOMAINS[env].title}, at the end, optimistic Sarsa less GV-UCB")
        checks += better(
            evidence, evidence.final(ucls(env)), theirs, f"{DOMAINS[env].title}, at the end, UCLS less GV-UCB"
        )
    sentence = "Sarsa with optimistic initialisation does remarkably well; GV-UCB (p = 0.5) poorly."
    return Claim(10, sentence, "figure-7", tuple(checks))


def sarsa_in_puddle_world(evidence: Evidence) -> Claim:
    """14: epsilon-greedy Sarsa learns Puddle World; UCLS keeps up with optimistic Sarsa there and in River Swim."""
    least = 2 * optimum(PUDDLE).episode_return
    margin = ALIKE * -optimum(PUDDLE).episode_return
    rate = optimum(RIVER).reward_rate * evidence.steps(ucls(RIVER))

    def checks(in_puddle_world: Group) -> tuple[Check, ...]:
        greedy = evidence.final(tuned("sarsa-epsilon", PUDDLE)).mean
        what = "Puddle World, return at the end of epsilon-greedy Sarsa, at most twice the cost"
        made = at_least(greedy, least, what)
        mine, theirs = (evidence.final(g) for g in (in_puddle_world, tuned("sarsa-optimistic", PUDDLE)))
        what = "Puddle World, return at the end, UCLS less optimistic Sarsa"
        made += apart(evidence, mine, theirs, -margin, np.inf, what)
        rewards = [evidence.sample(g, "reward") for g in (tuned("sarsa-optimistic", RIVER), ucls(RIVER))]
        what = "River Swim, more regret of UCLS than of optimistic Sarsa, at most a tenth of the optimum's reward"
        made += apart(evidence, rewards[0], rewards[1], -np.inf, 0.1 * rate, what)
        return tuple(made)

    sentence = (
        "Sarsa with epsilon-greedy learns well in Puddle World; UCLS matches the policy of optimistic Sarsa there and "
        "has little more regret than it in River Swim."
    )
    return _in_puddle_world(Claim(14, sentence, "figure-7", checks(ucls(PUDDLE))), checks)


def dgpq_in_sparse_mountain_car(evidence: Evidence) -> Claim:
    """15: DGPQ beats optimistic Sarsa in Sparse Mountain Car."""
    keys = ("dgpq", "dgpq-wide", "sarsa-optimistic")
    usual, wide, sarsa = (evidence.sample(tuned(key, SPARSE), "reward") for key in keys)
    what = "goals reached, DGPQ less optimistic Sarsa"
    sentence = "Sparse Mountain Car: DGPQ (its reward shift makes the task dense) beats optimistic Sarsa."
    claim = Claim(15, sentence, "figure-7", tuple(better(evidence, usual, sarsa, what)))
    return turned(claim, {"the size of DGPQ's sweep": better(evidence, wide, sarsa, what)})


def swept_p(evidence: Evidence) -> Claim:
    """17: UCLS-L's better policy in Sparse Mountain Car is due to its swept p."""
    shown = figure_6.shown(SPARSE)
    linear, usual, swept = (evidence.final(shown[key]) for key in ("ucls-l", "ucls", "ucls-p"))
    checks = better(evidence, linear, usual, "steps at the end, UCLS-L less UCLS")
    checks += better(evidence, swept, usual, "steps at the end, UCLS with p swept less UCLS")
    pair = evidence.difference(linear, swept)
    why = "" if pair is None else f"UCLS-L less UCLS with p swept: {interval(pair)} steps."
    sentence = (
        "UCLS-L learns a better policy than UCLS in Sparse Mountain Car because its p was swept: UCLS with p swept too."
    )
    return Claim(17, sentence, "figure-6", tuple(checks), why=why)


JUDGES = (
    best_at_the_end,
    learns_faster,
    puddle_world,
    others_do_poorly,
    classic_mountain_car,
    linear_version,
    optimistic_sarsa,
    sarsa_in_puddle_world,
    dgpq_in_sparse_mountain_car,
    swept_p,
)

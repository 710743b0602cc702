"""UCLS-Plan: optimistic least-squares value iteration on all remembered transitions, with the noise that they show.

The agent remembers transitions, regresses the maximum possible return v0 toward what they say, and backs up with the
maximum over actions, so that what followed under earlier policies does not matter. For each action,

    M     = kappa I + sum x x'                                       kappa = m |x|^2: the prior is worth m visits
    phi   = M^-1 sum x (r + gamma V(s') - v0)                        the regression of what v0 is wrong by
    U     = v0 + x'phi + noise_scale sqrt(x'Cx)                      V(s') = clip(max_a U(s', a), vmin, v0)
    C     = M^-1 (sum (delta^2 + l sigma^2) x x') M^-1
    sigma^2 = sum delta^2 / sum (1 - l) + ((v0 - vmin) / 2^k)^2      k: pairs of state and action that were repeated

and it maximizes U. delta is how far a target is from the mean of those with the same features, l = 1/n the leverage of
one of n visits on that mean: both are free of the prior's pull. A single visit has leverage 1 and shows no noise of its
own, so that the global variance speaks for it (Corollary 1 of the paper); after many visits the residuals of the place
do (Theorem 1). Where nothing is noisy, one visit is enough.

That nothing is noisy has to be seen first. Each pair of state and action that is visited for a second time halves the
standard deviation that noise may have without having shown: at first it is the range of values, after ten pairs a
thousandth of it. Without that term, one action that always has the same reward proved that no other action is noisy
either. In One-State, 9 of 40 tuning runs gave up the better action after its first reward; with it, 5 of 80 did. Deep
Sea 20 and 50 take 33 and 112 episodes with and without it. A slower decline takes longer there: with 1 / (1 + k) in
place of 1 / 2^k, 62 and 128 episodes, in which One-State gains no more. With one-hot features the noise term takes no U
above v0. Otherwise a pair that was visited would look better than one that was not, and be repeated: in CliffWalking,
where values may be as low as -10,000, the first good episodes came after 4,600 steps instead of 500.

`w`, the value estimate, is the same without optimism: a ridge toward min(0, v0), with targets clipped as for V. Actions
that were not tried have no part in its maximum. The prior term of the radius is U - x'w without the noise term.

With lambda > 0 the targets are returns over several steps along the remembered trajectories, weighted as in TD(lambda)
and cut off where the agent did not take the action that it now prefers (Watkins's Q(lambda)). Tiles cannot represent a
value function exactly, and the error that one step passes on to the step before it adds up over an episode: with
one-step targets, episodes of Sparse Mountain Car end up 117 steps long, with lambda = 0.5 about 112 and with 0.8 about
105 (optimum: 98). Longer returns are noisier. delta is therefore the deviation of the same returns: with the deviation
of one-step targets and lambda = 0.8, 2 of 30 runs in River Swim stopped exploring at the bottom. With that of the
returns none did, but 1 of another 30 ended at half of the optimum, and with lambda = 0.5 none of 60: hence the default.

vmin is min(0, the smallest reward) times the sum of discounts, or times the longest episode where nothing is
discounted. Terminal states are worth 0.

The features choose the solver. With one-hot features there is no matrix, and each step sweeps over the predecessors of
what it changed (`kernels.planning.sweeping`). Otherwise each action has a matrix, which a step changes by rank one, and
all moves are solved now and then (`kernels.planning.blocks`).

Memory: `limit` distinct states and as many moves between them, and at least one move for each pair of state and action.
At the limit, a new state is taken for the nearest that is stored, and a new move for the one of the same pair that
leads to the most similar value; returns follow the last `limit` steps. With k active features, a state takes at most
4 k + 34 |A| + 54 numbers of 8 bytes, its moves and spare capacity included; the matrices take 2 n^2/|A| for n features
of all actions. With one-hot features there are none, and each of n pairs takes 6 numbers, and 5 more for each state.

Related: the optimistic initial model (Szita and Lorincz 2008), LSVI-UCB (Jin et al. 2020), Bernstein bonuses of UCBVI
(Azar et al. 2017), R-max, and RLSVI. None pools variances by leverage.

Deviations: the paper learns from a stream and has no such algorithm; the two variances are its.
- with other features than one-hot, sweeps of a maximum over least squares need not converge. The clip keeps them
  bounded, and there are at most `block_solver.SWEEPS` in a solve.
- delta is taken within states of the same features, so that what features cannot fit does not count as noise. Where
  states are hardly ever met twice (Fourier features), it is taken from the regression, and l from M.
- defaults of the prior and of the noise differ between features. A prior is passed on: where each of k steps was taken
  once, the first value is still about k m of the way from v0. So one-hot features have a prior of few visits (Deep Sea
  50 takes 122 episodes with 0.03 and 214 with 0.1), and 2 standard deviations, because FrozenLake needs them: with 1,
  the worst run ended at 0.60 in place of 0.74. States that share their tiles have different targets without any noise:
  with 1 in place of 0.3, Puddle World has a tenth fewer goals. All of these were chosen on the seeds they were
  measured on, three to ninety runs each.
- with dense features there are few sweeps per solve (`block_solver.DENSE_SWEEPS`). With pairs of components in the
  Fourier features, the default of other algorithms, or with lambda = 0, more runs in CartPole settle for a policy that
  drifts off the track within 200 to 300 steps (of 16 to 32 tuning runs each, greedy policies last 440 steps on average
  with lambda = 0 and 482 with 0.5); hence `fit_features`. With the default still 3 of 32 runs do.
- a move has one mean discount.
- what is stored and computed is float64, whatever the dtype.
- with hashing=joint actions share features, which the blocks cannot express: a notice says so.
- `return_max` may be unknown: `kernels.planning.returns` then guesses v0 from the rewards seen, and an observed return
  above it raises it. If every step had the same reward (CartPole), the guess is that reward for every step. If rewards
  before termination differ, the guess is an extrapolation: the largest of them with every step. It may be far above
  every possible return (a picking task with a best return of 9 has a guess of 300), and exploration would never end.
  The agent is therefore greedy in a growing fraction of the episodes, or of periods of `PERIOD` steps: of n, about
  sqrt(10 / n) are optimistic. When such a guess was attained, the next is `MORE` times as high; with twice as high, 2
  of 6 runs in River Swim stayed at the bottom.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels import active as la
from ucls.kernels import ranges
from ucls.kernels.arrays import IntScalar, Scalar
from ucls.kernels.compilation.jit import jit
from ucls.kernels.planning import block_solver as bs
from ucls.kernels.planning import blocks as bl
from ucls.kernels.planning import exported
from ucls.kernels.planning import levels as lv
from ucls.kernels.planning import moves as mv
from ucls.kernels.planning import returns as rt
from ucls.kernels.planning import sweeping as sw
from ucls.kernels.planning import trajectory as tr
from ucls.settings import NOT_NEGATIVE, POSITIVE, UNIT, Follows, Known, Whole

PAIRS = 100_000  # with one-hot features there is no matrix: at most 12 numbers for each take 10 MB
RESULTS_VERSION = 6  # raised when the results of its runs change
MORE = 8.0  # times an extrapolated v0 that was attained: the next guess, which greedy periods make affordable
PERIOD = 500  # steps after which the choice between exploring and exploiting is made again within an episode
OPTIMISTIC = 10  # periods that are optimistic at first; of n periods, about sqrt(OPTIMISTIC / n) are
ONE_HOT = len(sw.Sweeper._fields)  # `len` of a solver is known to the compiler, which leaves the others out
STREAM = (
    "returns.steps",
    "returns.rewards",
    "returns.discounts",
    "returns.count",
)  # fields of State that belong to one stream of experience


class Settings(NamedTuple):
    """The settings of UCLS-Plan."""

    return_max: Annotated[
        float,
        Known(),
        Follows("return_max", otherwise="unknown"),
        "v0, the maximum possible return; unknown: guessed from the rewards seen",
    ] = np.nan
    prior_visits: Annotated[
        float,
        POSITIVE,
        Follows("planner_prior_visits", otherwise=0.1),
        "visits that the prior is worth; by default 0.03 with one-hot features, 0.3 with tiles, otherwise 0.1",
    ] = 0.1
    noise_scale: Annotated[
        float,
        NOT_NEGATIVE,
        Follows("planner_noise_scale", otherwise=2.0),
        "noise term in standard deviations; by default 0.3 with tiles, otherwise 2",
    ] = 2.0
    lambda_: Annotated[float, UNIT, "decay of returns over several steps; not with one-hot features"] = 0.5
    spacing: Annotated[
        float,
        NOT_NEGATIVE,
        "full solves come every 20 steps, and this part of the steps so far; not with one-hot features",
    ] = 0.02
    limit: Annotated[int, Whole(16), "distinct states, and moves between them, that are remembered, at most"] = 50_000


class State(NamedTuple):
    """The solver with all that was learned; what rewards were seen, the smallest (or 0), and the smallest one before
    termination; v0 as it was last; whether actions were seen to share features; whether this period is greedy, and how
    many there were for which v0 was an extrapolation."""

    solver: Any
    returns: rt.Returns
    worst: Scalar
    least: Scalar
    v0: Scalar
    shared: Annotated[IntScalar, ranges.FLAG]
    greedy: Annotated[IntScalar, ranges.FLAG]
    periods: Annotated[IntScalar, ranges.COUNT]


def fit_features(features: str, dimensions: int) -> dict[str, Any]:
    """Products of all four components in the Fourier basis: pairs leave no uncertainty where CartPole ends.

    >>> fit_features("fourier", 4), fit_features("fourier", 6)
    ({'order': 2, 'coupled': 4}, {})
    """
    return {"order": 2, "coupled": 4} if features == "fourier" and dimensions == 4 else {}


def one_hot(size: int, n_actions: int, n_active: int) -> bool:
    """Whether each state has one feature of its own."""
    return n_active == 1 and size > n_actions


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates."""
    known = sw.room(size, n_actions) if one_hot(size, n_actions, n_active) else bl.room(size, n_actions, n_active)
    return known + 2 * rt.ROOM


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start without data; the features say which solver there is."""
    tabular = one_hot(size, n_actions, n_active)
    return State(
        solver=sw.sweeper(size, n_actions, hyper.prior_visits) if tabular else bl.blocks(size, n_actions, n_active),
        returns=rt.returns(),
        worst=np.zeros(1),
        least=np.full(1, -rt.NONE),
        v0=np.full(1, rt.NONE),
        shared=np.zeros(1, np.uint8),
        greedy=np.zeros(1, np.uint8),
        periods=np.zeros(1, np.int64),
    )


def estimated_return_max(state: State, hyper: Settings) -> float | None:
    """v0 as it is guessed from the rewards seen; None where it was given, or no reward was other than 0."""
    return float(state.v0[0]) if np.isnan(hyper.return_max) and state.returns.varied[0] else None


def notices(state: State, hyper: Settings) -> list[str]:
    """Say that return_max is too low, or that actions share features."""
    notes = []
    if state.returns.attained[0] > hyper.return_max:
        notes.append(f"return_max={hyper.return_max:g} is too low: a higher return was observed, and raises it")
    if state.shared[0]:
        notes.append("ucls-plan needs features that actions do not share: use hashing=blocks")
    return notes


@jit
def full(state):
    """Whether another transition might not fit."""
    return _full(state.solver)


@jit
def _full(solver):
    if len(solver) == ONE_HOT:
        return mv.full(solver.moves)
    return bl.full(solver)


def grow(state: State, hyper: Settings) -> State:
    """Double what is full."""
    if isinstance(state.solver, sw.Sweeper):
        return state._replace(solver=state.solver._replace(moves=mv.more_moves(state.solver.moves)))
    return state._replace(solver=bl.grow(state.solver))


@jit
def start(state, hyper, rng):
    """Begin an episode."""
    rt.begin(state.returns)
    _begin(state.solver)
    begin_period(state, hyper, rng)


@jit
def switch(state):
    """Go on with another stream of experience: its steps do not continue the last ones."""
    _begin(state.solver)


@jit
def _begin(solver):
    if len(solver) != ONE_HOT:
        tr.begin(solver.steps)


@jit
def extrapolates(state, hyper):
    """Whether v0 assumes that the largest reward so far might come with every step, although smaller ones came too."""
    seen = state.returns
    return np.isnan(hyper.return_max) and state.least[0] < seen.on_way[0] and rt.forever(seen) > seen.at_end[0]


@jit
def begin_period(state, hyper, rng):
    """Decide whether to explore or to exploit until the end of the episode, or for `PERIOD` steps.

    An extrapolated v0 may be far above every return there is, and the agent would then explore for as long as it
    lives. So it follows its optimistic bounds in ever fewer periods, and its estimates in the others.
    """
    state.greedy[0] = 0
    if extrapolates(state, hyper):
        state.periods[0] += 1
        state.greedy[0] = rng.random() > np.sqrt(OPTIMISTIC / state.periods[0])


@jit
def levels_of(state, hyper):
    """v0: what was declared, or guessed, and no less than a return that was observed; vmin, and the settings."""
    seen = state.returns
    span = rt.span(seen)
    if not np.isnan(hyper.return_max):
        v0 = hyper.return_max
    elif state.least[0] == seen.on_way[0] and rt.forever(seen) > seen.at_end[0]:
        v0 = rt.forever(seen)  # every step was worth the same: no more than all of them
    else:
        v0 = rt.guess(seen, MORE)
    v0 = max(v0, seen.attained[0])
    lambda_ = 0.0 if len(state.solver) == ONE_HOT else hyper.lambda_
    return lv.Levels(v0, min(state.worst[0] * span, v0), hyper.prior_visits, hyper.noise_scale, lambda_)


@jit
def value(state, hyper, x):
    """The estimated action value w, without optimism."""
    return _value(state.solver, levels_of(state, hyper), x)


@jit
def _value(solver, levels, x):
    if len(solver) == ONE_HOT:
        return sw.value(solver, levels, x.index[0])
    of_state, a = bl.of_state(solver, x)
    return bl.value(solver, levels, of_state, a)


@jit
def _upper(solver, levels, x):
    if len(solver) == ONE_HOT:
        return sw.upper(solver, levels, x.index[0])
    of_state, a = bl.of_state(solver, x)
    return bl.upper(solver, levels, of_state, a)


@jit
def _noise(solver, levels, x):
    if len(solver) == ONE_HOT:
        return sw.noise(solver, levels, x.index[0])
    of_state, a = bl.of_state(solver, x)
    return bl.noise(solver, levels, of_state, a)


@jit
def radius_terms(state, hyper, x):
    """The prior term and the noise term of the radius."""
    levels = levels_of(state, hyper)
    spread = _noise(state.solver, levels, x)
    return max(0.0, _upper(state.solver, levels, x) - spread - _value(state.solver, levels, x)), spread


@jit
def prior_fraction(state, x):
    """What is left of the prior: 1 without data, m / (m + n) after n visits of a state with a feature of its own."""
    return _prior_fraction(state.solver, x)


@jit
def _prior_fraction(solver, x):
    if len(solver) == ONE_HOT:
        return sw.left(solver, x.index[0])
    of_state, a = bl.of_state(solver, x)
    return bl.left(solver, of_state, a)


@jit
def interval(state, hyper, x, rng):
    """The estimated action value, and the radius of its bound."""
    prior, spread = radius_terms(state, hyper, x)
    return value(state, hyper, x), prior + spread


def export(state: State, hyper: Settings) -> dict[str, Any]:
    """The action values and their bounds, for `ucls.policy`, which does not know of greedy periods."""
    return exported.form(state.solver, levels_of(state, hyper))


@jit
def act(state, hyper, xs, rng):
    """The action with the largest upper bound, or in a greedy period with the largest estimate."""
    solver, levels = state.solver, levels_of(state, hyper)
    scores = np.empty(len(xs.index))
    for a in range(len(scores)):
        x = la.of_action(xs, a)
        scores[a] = _value(solver, levels, x) if state.greedy[0] else _upper(solver, levels, x)
    return la.argmax(scores, rng)


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Remember a transition, and plan."""
    rt.observe(state.returns, r, gamma)
    if state.returns.steps[0] % PERIOD == 0:
        begin_period(state, hyper, rng)
    state.worst[0] = min(state.worst[0], r)
    if gamma > 0.0:
        state.least[0] = min(state.least[0], r)
    levels = levels_of(state, hyper)
    if (xs.index[a, 0] - a) % len(xs.index) != 0:
        state.shared[0] = 1
    moved = levels.v0 != state.v0[0]
    state.v0[0] = levels.v0
    plan(state.solver, hyper, levels, moved, xs, a, r, gamma, xs_next)


@jit
def plan(solver, hyper, levels, moved, xs, a, r, gamma, xs_next):
    """Sweep over predecessors where features are one-hot, or else learn recursively and solve now and then."""
    if len(solver) == ONE_HOT:
        if moved:
            sw.queue_all(solver, sw.FIRST)
        cell = xs_next.index[0, 0] // solver.n_actions[0] if gamma > 0.0 else -1
        sw.observe(solver, levels, xs.index[a, 0], r, gamma, cell, hyper.limit)
        sw.note_mask(solver, xs)
        if gamma > 0.0:
            sw.note_mask(solver, xs_next)
        sw.plan(solver, levels)
    else:
        bl.observe(solver, levels, xs, a, r, gamma, xs_next, hyper.limit)
        if moved or solver.since[0] >= 20 + hyper.spacing * solver.t[0]:
            bs.solve(solver, levels, bs.DENSE_SWEEPS if bl.dense(solver) else bs.SWEEPS)

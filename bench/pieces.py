"""The pieces around the update: environments, tile coding, choosing, a small learner, and Gymnasium's path."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

from bench.harness import Effort, Job, interleave, ratio, spread, took
from bench.steps.kernel import Kernel
from bench.steps.stream import make_stream
from bench.tables import Table, within
from ucls import Agent
from ucls.algorithms import ucls
from ucls.core.run import make_run
from ucls.envs import ENVIRONMENTS, make_builtin
from ucls.features import tiles
from ucls.kernels import active as la
from ucls.kernels.compilation.jit import jit
from ucls.kernels.linear_algebra import traces as tr

act, encode = ucls.act, tiles.encode
STATES = 1024


def measure(effort: Effort) -> dict[str, Any]:
    """Time each piece alone, and an agent in Gymnasium against the compiled loop."""
    jobs = {f"environment step: {env}": Job(_stepping(env)) for env in ENVIRONMENTS}
    for env in ("ucls/RiverSwim-v0", "ucls/PuddleWorld-v0", "ucls/SparseMountainCar-v0"):
        run = make_run(env, "ucls")
        run.advance(effort.of(5000, 500))
        jobs[f"tile coding, all actions: {env}"] = Job(_coding(run))
        jobs[f"UCLS chooses an action: {env}"] = Job(_choosing(run))
    jobs["UCLS update, d = 512"] = Job(Kernel(make_stream(512), "float64").run)
    jobs["Sarsa-sized update, d = 512"] = Job(_sarsa_sized(512))
    jobs["environment step in Gymnasium: ucls/PuddleWorld-v0"] = Job(_gymnasium("ucls/PuddleWorld-v0"))
    samples = interleave(jobs, effort.of(20.0, 1.5), at_least=3)
    return {"us": {name: spread(values) for name, values in samples.items()}, "agent": _agent(effort)}


def _stepping(id: str) -> Callable[[int], object]:
    world = make_builtin(id)
    reset, step, n_actions = world.module.reset, world.module.step, world.n_actions

    @jit
    def go(env, s, rng, steps):
        for t in range(steps):
            _, _, terminated = step(env, s, t // 3 % n_actions, rng)
            if terminated:
                reset(env, s, rng)

    s, rng = np.zeros(len(world.bounds()[0])), np.random.default_rng(0)
    reset(world.env, s, rng)
    return lambda steps: go(world.env, s, rng, steps)


@jit
def _encode_all(coder, states, xs, steps):
    for t in range(steps):
        encode(coder, states[t % len(states)], xs)


@jit
def _act_all(state, hyper, index, value, rng, steps):
    chosen = 0
    for t in range(steps):
        i = t % len(index)
        chosen += act(state, hyper, la.Active(index[i], value[i]), rng)
    return chosen


def _states(run: Any) -> np.ndarray:
    plan = run.learner.plan
    return np.random.default_rng(0).uniform(plan.low, plan.high, (STATES, len(plan.low)))


def _coding(run: Any) -> Callable[[int], object]:
    coder, states = run.learner.coder, _states(run)
    xs = la.no_features(coder.n_actions, coder.n_active)
    return lambda steps: _encode_all(coder, states, xs, steps)


def _choosing(run: Any) -> Callable[[int], object]:
    coder, me = run.learner.coder, run.learner
    xs = la.no_features(coder.n_actions, coder.n_active)
    index, value = np.empty((STATES, *xs.index.shape), np.int64), np.empty((STATES, *xs.value.shape))
    for i, s in enumerate(_states(run)):
        tiles.lookup(coder, s, xs)
        index[i], value[i] = xs.index, xs.value
    rng = np.random.default_rng(0)
    return lambda steps: _act_all(me.state, me.hyper, index, value, rng, steps)


@jit
def _sarsa(trace, w, index, value, r, gamma, steps):
    for t in range(steps):
        i = t % len(r)
        x, x_next = la.Active(index[i], value[i]), la.Active(index[i + 1], value[i + 1])
        delta = r[i] + gamma * la.dot(x_next, w) - la.dot(x, w)
        tr.decay_and_add(trace, len(w), gamma * 0.9, x)
        la.average(w, len(w), 1e-9, 1e6 * delta, trace.z)


def _sarsa_sized(d: int) -> Callable[[int], object]:
    """The work of Sarsa(lambda): decay a trace, and add it to w."""
    s, trace, w = make_stream(d), tr.trace(d, np.float64), np.zeros(d)
    return lambda steps: _sarsa(trace, w, s.index, s.value, s.r, s.gamma, steps)


def _gymnasium(id: str) -> Callable[[int], object]:
    env = gymnasium.make(id)
    env.reset(seed=0)

    def go(steps: int) -> None:
        for t in range(steps):
            _, _, terminated, truncated, _ = env.step(t // 3 % 4)
            if terminated or truncated:
                env.reset()

    return go


def _agent(effort: Effort) -> dict[str, Any]:
    """The same run twice in turns: in the compiled loop, and by an agent on Gymnasium's environment."""
    env, chunk = "ucls/PuddleWorld-v0", effort.of(500, 100)
    run, agent = make_run(env, "ucls", seed=1), Agent(gymnasium.make(env), "ucls", seed=1)
    run.advance(1)
    agent.learn(1)
    pairs = [(took(run.advance, chunk), took(agent.learn, chunk)) for _ in range(effort.of(20, 5))]
    loop, shell = 1e6 * np.array(pairs).T / chunk
    return {
        "env": env,
        "loop": spread(loop),
        "shell": spread(shell),
        "more": spread(shell - loop),
        "ratio": ratio(shell, loop),
    }


def tables(found: dict[str, Any]) -> list[Table]:
    """Microseconds of each component."""
    agent = found["agent"]
    rows = [[name, within(us)] for name, us in found["us"].items()]
    rows += [
        [f"one step of the compiled loop: {agent['env']}", within(agent["loop"])],
        ["the same step with `Agent` in Gymnasium", within(agent["shell"])],
        ["difference", within(agent["more"])],
    ]
    return [Table("Components, microseconds", ["component", "µs"], rows, "Medians with quartiles, one core.")]

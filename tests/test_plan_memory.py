"""UCLS-Plan at its limit: memory stays as it is, and so does the reward if the limit is not far below what is met."""

import pytest

from ucls.core.run import make_run
from ucls.core.saving import checkpoint


def bytes_of(run):
    """The size of all that was learned."""
    return sum(array.nbytes for array in checkpoint.flatten("", run.learner.state).values())


@pytest.mark.slow
def test_river_swim_at_half_of_its_moves_keeps_its_memory_and_its_reward():
    """Without a limit there are 2,019 moves after 30,000 steps; the optimum is 0.2226 per step."""
    run = make_run("ucls/RiverSwim-v0", "ucls-plan", seed=3000, settings={"limit": 1000})
    run.advance(3000)
    reached = bytes_of(run)
    assert run.learner.state.solver.moves.table.count[0] >= 1000
    middle, last = (run.advance(12_000).rewards.sum() for _ in range(2))
    assert bytes_of(run) == reached
    assert run.learner.state.solver.moves.table.count[0] <= 1000 + 2 * 129
    assert last > 0.95 * middle > 0.95 * 0.9 * 12_000 * 0.2226

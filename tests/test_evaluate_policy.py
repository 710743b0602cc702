"""How good an agent is: the right episodes are counted, in one environment or many, and the agent is left alone."""

import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from ucls import Agent, Evaluation, UserError, evaluate_policy
from ucls.errors import UclsWarning

BOUNDS = {"low": [-2.4, -3, -0.21, -3], "high": [2.4, 3, 0.21, 3]}


class Count(gymnasium.Env):
    """Episodes of so many steps; each step pays its number, so a return tells which steps were counted."""

    observation_space = gymnasium.spaces.Discrete(3)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, length=4, base=0.0):
        self.length, self.base = length, base

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return 0, {}

    def step(self, action):
        assert self.t < self.length, "stepped after its end"
        self.t += 1
        return min(self.t, 2), self.base + self.t, self.t == self.length, False, {}


@pytest.fixture(scope="module")
def cart():
    return Agent("CartPole-v1", seed=1, features="tiles", tilings=4, **BOUNDS).learn(400)


@pytest.fixture(scope="module")
def counter():
    return Agent(Count()).learn(10)


def test_it_unpacks_as_in_stable_baselines_and_says_more(cart):
    evaluation = evaluate_policy(cart, n_eval_episodes=6)
    mean, std = evaluation
    assert (mean, std) == (evaluation.mean, evaluation.std) == (evaluation.returns.mean(), evaluation.returns.std())
    assert evaluation.returns.tolist() == evaluation.lengths.tolist()
    low, high = evaluation.interval()[1:]
    assert low < mean < high
    assert "6 episodes" in repr(evaluation)
    assert evaluation.metrics["eval/mean_reward"] == mean
    again = pickle.loads(pickle.dumps(evaluation))
    assert isinstance(again, Evaluation)
    assert np.array_equal(again.lengths, evaluation.lengths)
    returns, lengths = evaluate_policy(cart, n_eval_episodes=6, return_episode_rewards=True)
    assert (returns, lengths) == (evaluation.returns.tolist(), evaluation.lengths.tolist())


@pytest.mark.parametrize("deterministic", [True, False])
def test_the_seed_decides_and_the_agent_stays_as_it_is(deterministic):
    watched, alone = (Agent("FrozenLake-v1", "ucbootstrap", seed=5).learn(57) for _ in range(2))
    options = {"n_eval_episodes": 4, "deterministic": deterministic}
    one, two, other = (evaluate_policy(watched, seed=seed, **options) for seed in (0, 0, 1))
    assert np.array_equal(one.lengths, two.lengths)
    assert not np.array_equal(one.lengths, other.lengths)
    evaluate_policy(watched, watched.env, **options)
    assert [watched.predict(s)[0] for s in range(15)] == [alone.predict(s)[0] for s in range(15)]
    watched.learn(60)
    alone.learn(60)
    assert np.array_equal(watched.history.ends, alone.history.ends)
    mine, theirs = watched.learner.checkpoint(), alone.learner.checkpoint()
    assert all(np.array_equal(mine[name], theirs[name]) for name in mine)


def test_what_is_evaluated_is_what_predict_does(cart):
    env = gymnasium.make("CartPole-v1")
    evaluation = evaluate_policy(cart, env, n_eval_episodes=1, seed=3)
    seen = []

    class Seeded(gymnasium.Wrapper):
        def reset(self, *, seed=None, options=None):
            seen.append(seed)
            return super().reset(seed=seed, options=options)

    assert evaluate_policy(cart, Seeded(env), n_eval_episodes=1, seed=3) == evaluation
    observation, _ = env.reset(seed=seen[0])
    steps, over = 0, False
    while not over:
        observation, _, terminated, truncated, _ = env.step(cart.predict(observation, deterministic=True)[0])
        steps, over = steps + 1, terminated or truncated
    assert [steps] == evaluation.lengths.tolist()


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("episodes", [1, 4, 7])
def test_every_step_of_an_episode_counts_once_in_every_mode_of_a_vector(counter, mode, episodes):
    envs = SyncVectorEnv([lambda n=n: Count(n, 100.0 * n) for n in (2, 3, 9)], autoreset_mode=mode)
    evaluation = evaluate_policy(counter, envs, n_eval_episodes=episodes)
    counted = {2: 2 * 200 + 3, 3: 3 * 300 + 6, 9: 9 * 900 + 45}
    assert evaluation.returns.tolist() == [counted[length] for length in evaluation.lengths.tolist()]
    shares = sorted(evaluation.lengths.tolist().count(length) for length in counted)
    assert sum(shares) == episodes
    assert max(shares) - min(shares) <= 1


@pytest.mark.parametrize("how", ["sync", "async", "vector_entry_point"])
def test_gymnasiums_own_vectors_serve(cart, how):
    envs = gymnasium.make_vec("CartPole-v1", num_envs=3, vectorization_mode=how)
    evaluation = evaluate_policy(cart, envs, n_eval_episodes=6)
    assert evaluation.returns.tolist() == evaluation.lengths.tolist()
    assert len(evaluation.returns) == 6
    envs.close()


def test_vectors_of_mappings_serve():
    class Named(gymnasium.ObservationWrapper):
        def __init__(self, env):
            super().__init__(env)
            self.observation_space = gymnasium.spaces.Dict(cell=env.observation_space)

        def observation(self, observation):
            return {"cell": observation}

    agent = Agent(Named(Count())).learn(10)
    evaluation = evaluate_policy(agent, SyncVectorEnv([lambda n=n: Named(Count(n)) for n in (2, 3)]), 4)
    assert sorted(evaluation.lengths.tolist()) == [2, 2, 3, 3]


def test_an_episode_without_an_end_is_cut_off_with_a_word():
    endless = Agent("ucls/RiverSwim-v0", "sarsa").learn(5)
    with pytest.warns(UclsWarning, match="2 of 2 episodes were truncated after 50 steps"):
        evaluation = evaluate_policy(endless, n_eval_episodes=2, max_steps=50)
    assert (evaluation.n_truncated, evaluation.lengths.tolist()) == (2, [50, 50])


@pytest.mark.parametrize(("mode", "lengths"), [("NextStep", [2, 2, 5]), ("Disabled", [2, 2, 5, 5])])
def test_in_a_vector_it_gives_no_more_unless_it_can_be_begun_again(counter, mode, lengths):
    envs = SyncVectorEnv([lambda: Count(2), lambda: Count(10**9)], autoreset_mode=mode)
    with pytest.warns(UclsWarning, match="were truncated after 5 steps"):
        evaluation = evaluate_policy(counter, envs, n_eval_episodes=4, max_steps=5)
    assert sorted(evaluation.lengths.tolist()) == lengths


def test_a_copy_has_the_arguments_and_wrappers_but_no_watchers(tmp_path):
    env = gymnasium.make("FrozenLake-v1", is_slippery=False, map_name="8x8", render_mode="rgb_array")
    env = gymnasium.wrappers.TransformReward(env, lambda r: r - 1)
    env = gymnasium.wrappers.RecordEpisodeStatistics(env)
    agent = Agent(env, "sarsa").learn(3)
    made = []
    from ucls.gym.copies import copy_of

    made = copy_of(agent.env)
    assert made.unwrapped.desc.shape == (8, 8)
    assert made.unwrapped.render_mode is None
    assert "RecordEpisodeStatistics" not in str(made)
    mean, _ = evaluate_policy(agent, n_eval_episodes=2)
    assert mean < -1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda agent: evaluate_policy(agent, Count(), 0), "n_eval_episodes cannot be 0"),
        (lambda agent: evaluate_policy(agent, Count(), seed=-1), "seed cannot be -1"),
        (lambda agent: evaluate_policy(agent, Count(), max_steps=0), "max_steps cannot be 0"),
        (lambda agent: evaluate_policy(agent, "FrozenLake-v1"), "2 actions and 1 observation components"),
        (lambda agent: evaluate_policy(agent, SyncVectorEnv([lambda: agent.env])), "is the agent's own environment"),
        (lambda agent: evaluate_policy(agent, gymnasium.make_vec("Pendulum-v1", 2)), "2 actions, not Box"),
        (lambda agent: evaluate_policy(agent, Count(base=np.nan)), "at fault, in episode 1 of the evaluation: a rew"),
        (lambda agent: evaluate_policy(agent, SyncVectorEnv([lambda: Count(base=np.nan)])), "rewards and flags"),
        (lambda agent: evaluate_policy(agent.predict), "give a ucls.Agent"),
    ],
)
def test_what_cannot_be_evaluated_gets_one_line(counter, make, words):
    with pytest.raises(UserError) as error:
        make(counter)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_single_episode_has_no_interval(counter):
    one = evaluate_policy(counter, Count(), n_eval_episodes=1)
    assert np.isnan(one.interval()[1:]).all()
    assert "no interval from one return, 1 episodes" in repr(one)

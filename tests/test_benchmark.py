"""The benchmark: scales, generated tasks, scores against plain NumPy, files that are checked, and whole entries."""

import base64
import json
import os
import subprocess
import sys
import time
import zlib

import gymnasium
import numpy as np
import pytest

from support.commands import ucls
from support.entries import made_up
from support.foreign import command
from ucls.benchmark import page, places, result, scale, scores
from ucls.benchmark.check import check
from ucls.benchmark.entry import entry_of
from ucls.benchmark.generated import generated
from ucls.benchmark.objects import run_object
from ucls.benchmark.tasks import PUBLIC, Scale, Task, chosen, scale_of
from ucls.errors import UserError
from ucls.gym.registry import make_env

BY_ID = {task.id: task for task in PUBLIC}

AGENTS = """
import os
import time
from pathlib import Path

import numpy as np

STARTED = []


class Walker:
    def __init__(self, env, seed):
        self.env, self.rng = env, np.random.default_rng(seed)

    def learn(self, total_timesteps):
        self.env.reset(seed=5)
        for _ in range(total_timesteps):
            *_, terminated, truncated, _ = self.env.step(int(self.rng.integers(self.env.action_space.n)))
            if terminated or truncated:
                self.env.reset()

    def predict(self, observation, deterministic=False):
        return np.int64(0), None


class Lazy(Walker):
    def learn(self, total_timesteps):
        super().learn(total_timesteps // 2)


class Greedy(Walker):
    def learn(self, total_timesteps):
        super().learn(2 * total_timesteps)


def once_killed(env, seed):
    mark = Path("killed")
    if seed == 1 and not mark.exists():
        mark.write_text("")
        os._exit(9)
    return Walker(env, seed)


def sleepy(env, seed):
    Path("worker").write_text(str(os.getpid()))
    time.sleep(600)


number = 3
"""


@pytest.fixture
def agents(tmp_path, monkeypatch):
    """The module `my_agents_of_tests` in the working directory."""
    (tmp_path / "my_agents_of_tests.py").write_text(AGENTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "my_agents_of_tests"
    sys.modules.pop("my_agents_of_tests", None)


# Tasks and scales


def test_tasks_have_a_scale_and_different_ids():
    assert len({task.id for task in PUBLIC}) == len(PUBLIC)
    for task in PUBLIC:
        assert scale_of(task).best > scale_of(task).random
    assert 5 < len(chosen(PUBLIC, quick=True)) < len(chosen(PUBLIC))
    with pytest.raises(UserError, match="did you mean 'taxi'"):
        chosen(PUBLIC, only=["taxy"])


@pytest.mark.parametrize(
    ("id", "best"), [("deep-sea-10", 0.99), ("frozen-lake-4", 0.7402), ("cliff-walking", -13.0), ("taxi", 7.93)]
)
def test_stored_scales_are_those_that_are_computed_and_have_the_known_optimum(id, best):
    found = scale.scale(BY_ID[id])
    assert (found.random, found.best) == pytest.approx(scale_of(BY_ID[id])[:2], rel=1e-9)
    assert found.best == pytest.approx(best, abs=1e-3)


def test_the_exact_scale_is_what_random_and_best_policies_collect():
    task = BY_ID["frozen-lake-4"]
    env, rng, returns = make_env(task.env), np.random.default_rng(0), []
    env.reset(seed=0)
    for _ in range(3000):
        over, total = False, 0.0
        while not over:
            _, reward, terminated, truncated, _ = env.step(int(rng.integers(4)))
            total, over = total + reward, terminated or truncated
        returns.append(total)
        env.reset()
    assert np.mean(returns) == pytest.approx(scale_of(task).random, abs=4 * np.std(returns) / 3000**0.5)


def test_a_random_policy_in_a_chain_of_two_cells_is_as_computed_by_hand():
    # Without slipping: a third of the actions advances, returns or is a trap (0.3). Let v and w be the values of the
    # first and the second cell: v = (w + v + 0.3) / 3 and w = (1 + v + 0.3) / 3, so v = 2.2 / 5.
    settings = {"size": 2, "slip": 0.0, "bait": 0.3, "time_limit": 0}
    found = scale.scale(Task("two", "", "ucls/TrapChain-v0", settings, 100))
    assert (found.random, found.best) == pytest.approx((0.44, 1.0))


def test_generated_tasks_belong_to_the_code_and_exist():
    tasks = generated("abc")
    assert tasks == generated("abc")
    assert [task.id for task in tasks] == [task.id for task in generated("abd")]
    assert sum(one.settings == other.settings for one, other in zip(tasks, generated("abd"), strict=True)) <= 1
    for task in tasks:
        env = make_env(task.env, task.settings)
        observation, _ = env.reset(seed=0)
        assert env.observation_space.contains(observation)
        env.close()
    assert scale.scale(tasks[5]).best > scale.scale(tasks[5]).random


def test_another_order_of_actions_is_the_same_environment():
    env, plain = places.reordered("CliffWalking-v1", 3), gymnasium.make("CliffWalking-v1")
    assert sorted(env.order) == [0, 1, 2, 3]
    env.reset(seed=0)
    plain.reset(seed=0)
    for a in (0, 1, 2, 3, 1):
        assert env.step(a)[:3] == plain.step(int(env.order[a]))[:3]


def test_the_swing_up_keeps_its_energy_if_nothing_pushes(monkeypatch):
    monkeypatch.setattr(places, "SECONDS", 0.0002)
    m, big, l, g = places.POLE, places.CART, places.LENGTH, places.GRAVITY

    def energy(x, v, angle, spin):  # of the cart and of a pole of length 2 l that turns around its end
        kinetic = 0.5 * (big + m) * v**2 + m * l * v * spin * np.cos(angle) + 0.5 * (4 / 3) * m * l**2 * spin**2
        return kinetic + m * g * l * np.cos(angle)

    state = (0.1, 0.2, 1.0, 0.5)
    before = energy(*state)
    for _ in range(2500):
        state = places.moved(*state, 0)
    assert energy(*state) == pytest.approx(before, abs=0.001)
    assert state[2] > 1.5, "it fell"


def test_the_swing_up_pays_when_up_and_in_the_middle_and_charges_for_pushing():
    env = places.SwingUp()
    observation, _ = env.reset(seed=1)
    assert observation[3] < -0.99
    assert env.step(1)[1] == 0.0
    assert env.step(2)[1] == pytest.approx(-0.1)
    env.state = (0.0, 0.0, 0.1, 0.0)
    assert env.step(1)[1] == 1.0
    env.state = (1.5, 0.0, 0.1, 0.0)
    assert env.step(1)[1] == 0.0
    env.state = (2.999, 5.0, 0.0, 0.0)
    _, reward, terminated, truncated, _ = env.step(1)
    assert (reward, terminated, truncated) == (0.0, True, False)


# Scores


def oracle(run, task, known, measure):
    """The score of a run in plain loops."""
    if measure == "greedy":
        total = sum(run.greedy_returns)
        value = total / (sum(run.greedy_lengths) if task.per == "step" else len(run.greedy_returns))
    elif task.per == "step":
        value = sum(run.rewards) / run.steps
    else:
        value = sum(r * n for r, n in zip(run.returns, run.lengths, strict=True)) / sum(run.lengths)
    return (value - known.random) / (known.best - known.random)


def test_scores_are_those_of_plain_loops():
    entered = made_up(seed=4, refused=("puddle-world",))
    found = {(s.task, s.seed): s for s in scores.scores_of(entered)}
    tasks = {task.id: task for task in entered.tasks}
    for measure in scores.MEASURES:
        clipped = {task: [0.0] * 3 for task in tasks}
        for run in entered.runs:
            expected = oracle(run, tasks[run.task], entered.scales[run.task], measure)
            assert getattr(found[run.task, run.seed], measure) == pytest.approx(expected, abs=1e-9)
            clipped[run.task][run.seed] = min(1.0, max(0.0, expected))
        total, values = (
            scores.overall(list(found.values()), measure),
            sorted(x for each in clipped.values() for x in each),
        )
        cut = len(values) // 4
        assert total.iqm[0] == pytest.approx(np.mean(values[cut : len(values) - cut]))
        assert total.mean[0] == pytest.approx(np.mean(values))
        assert total.worst == pytest.approx(np.mean([min(each) for each in clipped.values()]))
        assert total.iqm[1] < total.iqm[0] < total.iqm[2]


def test_the_threshold_is_the_first_step_at_which_the_last_episodes_are_good():
    [run] = made_up(tasks=(BY_ID["deep-sea-10"],), seeds=1).runs
    returns = np.array([0.0] * 30 + [1.0] * 70)
    run = run._replace(returns=returns, lengths=np.full(100, 7))
    # Of the last 20 episodes 18 must yield 1: that is so after 48 of 100.
    assert scores.threshold(run, BY_ID["deep-sea-10"], Scale(0.0, 1.0, "")) == 48 * 7
    assert scores.threshold(run._replace(returns=0 * returns), BY_ID["deep-sea-10"], Scale(0.0, 1.0, "")) is None


def test_runs_that_failed_or_diverged_score_nothing():
    entered = made_up(tasks=(BY_ID["deep-sea-10"],))
    one, two, three = entered.runs
    runs = (one._replace(diverged=True), two._replace(error="no memory"), three)
    found = scores.scores_of(entered._replace(runs=runs))
    assert [s.greedy > 0 for s in found] == [False, False, True]


# Files


def test_a_file_comes_back_as_it_was_and_is_complete(tmp_path):
    entered = made_up(label="mine <b>")
    result.write(entered, tmp_path / "a.json")
    found, part = check(tmp_path / "a.json")
    assert part == "quick"
    assert found.entry == entered.entry
    assert found.scores == entered.scores
    for one, other in zip(found.runs, entered.runs, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def tampered(path, change):
    """Write a good file that is changed, with a digest that fits."""
    result.write(made_up(), path)
    content = json.loads(path.read_text())
    change(content)
    content["digest"] = result.digest_of(content)
    path.write_text(json.dumps(content))
    return path


def bomb(length):
    return base64.b64encode(zlib.compress(bytes(length))).decode()


CHANGES = {
    "scores do not match": lambda c: c["scores"]["overall"]["online"].update(iqm=0.99),
    "scores do not": lambda c: c["scores"].update(more=1),
    "has 47 runs": lambda c: c["runs"].pop(),
    "has 49 runs": lambda c: c["runs"].append(c["runs"][0]),
    "differs from the benchmark's": lambda c: c["tasks"][0].update(steps=5),
    "scale of the task": lambda c: c["scales"]["deep-sea-10"].update(best=0.5),
    "it lacks the tasks": lambda c: (
        c["tasks"].pop(0),
        c.update(runs=[r for r in c["runs"] if r["task"] != "deep-sea-10"]),
    ),
    "not complete: it has 2 seeds": lambda c: c.update(seeds=2),
    "is of version 99": lambda c: c.update(version=99),
    "not a file of": lambda c: c.update(format="other"),
    "its entry or its set of tasks is unknown": lambda c: c["entry"].update(kind="pickle"),
    "missing or of the wrong type": lambda c: c.pop("tasks"),
    "missing or unexpected keys": lambda c: c["runs"][0].update(more=1),
    "too long or not finite": lambda c: c["runs"][0].update(returns=bomb(10**8)),
    "array cannot be read": lambda c: c["runs"][0].update(returns="gASVCgAAAAAAAACMBm9zLnN5c5Qu"),
    "without a length": lambda c: c["runs"][0].update(returns=bomb(0)),
    "longer than the run": lambda c: c["runs"][0].update(steps=10),
    "run of deep-sea-10 with seed 0 is not complete": lambda c: c["runs"][0].update(steps=9_999),
    "not printable": lambda c: c["entry"].update(label="two\nlines"),
    "number is missing": lambda c: c["runs"][0].update(cpu_seconds=True),
    "integer is missing": lambda c: c["runs"][0].update(seed=-1),
    "a refused task that it does not contain": lambda c: c["refused"].update(nothing="why"),
    "neither a number": lambda c: c["entry"].update(settings={"p": [1]}),
}


@pytest.mark.parametrize("words", CHANGES)
def test_a_file_that_was_changed_is_refused_in_one_line(words, tmp_path):
    with pytest.raises(UserError, match=words) as caught:
        check(tampered(tmp_path / "a.json", CHANGES[words]))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"format": "ucls-benchmark"}', "[" * 10_000, '{"a": NaN}'])
def test_what_is_no_file_of_ours_is_refused_in_one_line(text, tmp_path):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(UserError) as caught:
        check(tmp_path / "a.json")
    assert "\n" not in str(caught.value)
    with pytest.raises(UserError, match="not a file"):
        check(tmp_path / "nothing.json")


def test_a_file_whose_digest_does_not_match_is_refused(tmp_path):
    result.write(made_up(), tmp_path / "a.json")
    (tmp_path / "a.json").write_text((tmp_path / "a.json").read_text().replace('"sarsa"', '"salsa"'))
    with pytest.raises(UserError, match="digest does not match"):
        check(tmp_path / "a.json")


def test_generated_tasks_must_be_those_of_the_code(tmp_path):
    path, code = tmp_path / "a.json", made_up().entry.code
    result.write(made_up(tasks=generated(code)[:3], scale=scale.scale, set="generated"), path)
    with pytest.raises(UserError, match="lacks the tasks cart-pole"):
        check(path)
    result.write(made_up(tasks=generated("other")[:3], scale=scale.scale, set="generated"), path)
    with pytest.raises(UserError, match="deep-sea differs from the benchmark's"):
        check(path)


# The page


def test_the_page_shows_every_entry_and_needs_nothing_else(tmp_path):
    for i, label in enumerate(("mine <b>", "other")):
        result.write(made_up(i, label), tmp_path / f"{i}.json")
    files = [tmp_path / "0.json", tmp_path / "1.json"]
    assert ucls("benchmark", "page", *files, "--out", tmp_path / "page.html").exit_code == 0
    text = (tmp_path / "page.html").read_text()
    assert "mine &lt;b&gt;" in text
    assert "<b>" not in text
    assert "https://" not in text
    assert text.count("<svg") == 3
    assert ucls("benchmark", "page", *files, "--out", tmp_path / "page.md").exit_code == 0
    lines = (tmp_path / "page.md").read_text().splitlines()
    assert "| task | mine <b> | other |" in lines or "| task | other | mine <b> |" in lines
    assert ucls("benchmark", "check", *files).exit_code == 0


def test_entries_that_cannot_be_compared_are_refused():
    one, other = made_up(), made_up(1, "other")
    with pytest.raises(UserError, match="mix public and generated tasks"):
        page.tables([one, other._replace(set="generated")])
    with pytest.raises(UserError, match="label 'mine'"):
        page.tables([one, one])
    with pytest.raises(UserError, match="no task in common"):
        page.tables([made_up(tasks=PUBLIC[:1]), made_up(1, "other", tasks=PUBLIC[1:2])])


# Entries


def test_entries_that_are_none_are_refused(agents):
    for words, message in (
        (("nothing_of_this",), "unknown algorithm"),
        ((f"{agents}:nothing",), "has no 'nothing'"),
        ((f"{agents}:number",), "cannot be called"),
        ((f"{agents}:Walker", "--set", "p=1"), "--set is for algorithms"),
        (("sarsa", "--set", "env.size=3"), "env.size cannot be set"),
        (("sarsa", "--task", "nothing"), "unknown task"),
        (("sarsa", "--label", "two\nlines"), "--label cannot be"),
        ((f"{agents}:Walker", "--ray", "local"), "for algorithms"),
    ):
        with pytest.raises(UserError, match=message) as caught:
            ucls("benchmark", "run", *words)
        assert "\n" not in str(caught.value)


def test_the_code_of_an_entry_has_a_digest(agents, tmp_path):
    before = entry_of(f"{agents}:Walker").code
    assert entry_of("sarsa").code != entry_of("ucls").code
    (tmp_path / f"{agents}.py").write_text(AGENTS + "\n# changed\n")
    assert entry_of(f"{agents}:Walker").code != before


def test_an_object_is_recorded_for_its_steps_and_evaluated(agents):
    task = Task("small", "", "ucls/DeepSea-v0", {"size": 4}, 50, episodes=3)
    run = run_object(f"{agents}:Walker", task, 0)
    assert (run.error, run.steps, run.lengths.tolist()) == ("", 50, [4] * 12)
    assert len(run.greedy_returns) == 3
    again = run_object(f"{agents}:Walker", task, 0)
    assert np.array_equal(run.returns, again.returns)
    assert "took 25 of 50 steps" in run_object(f"{agents}:Lazy", task, 0).error
    assert "more than the 50 steps" in run_object(f"{agents}:Greedy", task, 0).error


def test_runs_of_an_object_resume_after_a_process_was_killed(agents, tmp_path):
    words = ("benchmark", "run", f"{agents}:once_killed", "--task", "deep-sea-10", "--seeds", 2, "--jobs", 1)
    with pytest.raises(UserError, match="repeat the command to make the missing runs"):
        ucls(*words, "--store", "a.sqlite", "--out", "a.json")
    [first] = (tmp_path / "a.objects").iterdir()
    written = first.stat().st_mtime_ns
    told = ucls(*words, "--store", "a.sqlite", "--out", "a.json")
    assert told.exit_code == 0
    assert "once_killed: 1 of 1 runs\n" in told.output
    assert first.stat().st_mtime_ns == written
    assert len(result.read(tmp_path / "a.json").runs) == 2


def test_workers_end_when_the_command_was_killed(agents, tmp_path):
    words = ("benchmark", "run", f"{agents}:sleepy", "--task", "deep-sea-10", "--seeds", "1")
    with subprocess.Popen([sys.executable, "-m", "ucls", *words], cwd=tmp_path) as driver:
        file, until = tmp_path / "worker", time.monotonic() + 60
        while not (file.exists() and file.read_text()) and time.monotonic() < until:
            time.sleep(0.05)
        worker = int(file.read_text())
        driver.kill()
    while is_alive(worker) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_alive(worker)


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_an_algorithm_runs_with_one_setting_and_resumes(tmp_path):
    words = ("benchmark", "run", "sarsa", "--set", "epsilon=0.2", "--task", "trap-chain-10", "--jobs", 1, "--json")
    first = command(tmp_path, *words, "--seeds", 1)
    assert first.returncode == 0, first.stderr
    second = command(tmp_path, *words, "--seeds", 2)
    assert second.returncode == 0, second.stderr
    found = result.read(tmp_path / "out" / "benchmark" / "sarsa.json")
    assert (len(found.runs), found.entry.settings) == (2, {"epsilon": "0.2"})
    run = found.runs[0]
    assert run.lengths.sum() <= run.steps == 10_000
    assert run.cpu_seconds > 0
    assert os.uname().nodename not in (tmp_path / "out" / "benchmark" / "sarsa.json").read_text()
    assert json.loads(second.stdout)["scores"] == found.scores

"""The visited states that an agent is least sure of: their numbers are the agent's, and planes go through them."""

import re

import gymnasium
import numpy as np
import pytest

from support.browsers import in_a_browser, launched
from support.commands import ucls as command
from support.pages import decoded, page_data
from ucls import Agent, DiscreteActions
from ucls.agent.explain import actions_of, record, views_of, write_page
from ucls.agent.explain.doubts import unsure_table
from ucls.core.saving import checkpoint
from ucls.testing import small_run

POLE = {"low": [-2.4, -3, -0.21, -3], "high": [2.4, 3, 0.21, 3], "features": "tiles", "tilings": 2, "tiles": 2}


def test_an_unsure_state_was_visited_and_has_the_intervals_that_the_agent_has_there():
    agent = Agent("CartPole-v1", seed=1, **POLE)
    views = views_of(agent.plan.low, agent.plan.high)
    seen = []
    maps = record(agent, 60, moments=2, views=views, watch=lambda done: seen.append(agent.s.copy()))
    assert len(maps.unsure) == 8
    widths = [row.radius[row.action] for row in maps.unsure]
    assert widths == sorted(widths, reverse=True)
    for row in maps.unsure:
        assert any((row.state == s).all() for s in seen)
        mean, radius = agent.value_estimates(row.state)
        np.testing.assert_allclose(row.mean, mean)
        np.testing.assert_allclose(row.radius, radius)
        assert row.action == np.argmax(mean + radius)


def test_planes_go_through_an_unsure_state():
    agent = Agent("CartPole-v1", seed=1, **POLE)
    maps = record(agent, 40, moments=2, views=views_of(agent.plan.low, agent.plan.high))
    row = maps.unsure[3]
    assert [view.dims for view in row.views] == [view.dims for view in maps.views]
    view, thought = row.views[1], row.thoughts[1]  # of the numbers 0 and 2
    assert set(view.points[:, 1]) == {row.state[1]}
    assert set(view.points[:, 3]) == {row.state[3]}
    np.testing.assert_allclose(thought.mean[7], agent.value_estimates(view.points[7])[0])


def test_of_many_dimensions_the_planes_of_neighbors_come_first():
    assert [view.dims for view in views_of([0.0] * 6, [1.0] * 6)][:4] == [(0, 1), (2, 3), (4, 5), (0, 2)]


def test_planes_go_through_the_start_if_nobody_says_otherwise(tmp_path):
    agent = Agent("Acrobot-v1", seed=3, features="tiles", tilings=1, tiles=2)
    data = page_data(agent.explain(tmp_path / "maps.html", steps=5))
    cosine, sine = float(data["views"][0]["through"][0]), float(data["views"][0]["through"][1])
    assert cosine == pytest.approx(1, abs=0.01)
    assert abs(sine) < 0.11
    assert data["actions"] == list(actions_of("Acrobot-v1"))


def test_numbered_actions_are_called_by_their_values(tmp_path):
    agent = Agent(DiscreteActions(gymnasium.make("Pendulum-v1"), bins=3), features="tiles", tilings=1, tiles=2)
    assert page_data(agent.explain(tmp_path / "maps.html", steps=5))["actions"] == ["-2", "0", "2"]


def test_a_kept_run_goes_where_it_would_go_and_does_not_change(tmp_path):
    run = tmp_path / "run"
    command("train", "FrozenLake-v1", "--steps", "200", "--out", run)
    before = (run / "agent.safetensors").read_bytes()
    page = command("explain", run, "--out", tmp_path / "maps.html").stdout.strip()
    data = page_data(tmp_path / "maps.html")
    assert page.endswith("maps.html")
    assert 2 <= len(data["unsure"]) <= 8
    assert data["actions"] == ["left", "down", "right", "up"]
    assert data["views"][0]["kinds"]["visits"]["high"] > 10
    assert "in FrozenLake-v1?" in (tmp_path / "maps.html").read_text()
    assert (run / "agent.safetensors").read_bytes() == before


def test_to_be_looked_at_leaves_the_episode_of_the_agent_alone(tmp_path):
    plain, seen = Agent("FrozenLake-v1", seed=2).learn(50), Agent("FrozenLake-v1", seed=2).learn(50)
    seen.explain(tmp_path / "maps.html")
    plain.learn(50)
    seen.learn(50)
    assert checkpoint.to_bytes(plain.checkpoint(), {}) == checkpoint.to_bytes(seen.checkpoint(), {})
    np.testing.assert_array_equal(plain.history.rewards, seen.history.rewards)


def test_a_state_where_an_episode_ended_is_none_to_be_unsure_of(tmp_path):
    agent = Agent("FrozenLake-v1", seed=2)
    holes = {5, 7, 11, 12, 15}
    for steps in (400, 0):  # while it learns, and as it is
        data = page_data(agent.explain(tmp_path / "maps.html", steps=steps))
        assert not {int(row["state"][0]) for row in data["unsure"]} & holes
        assert decoded((tmp_path / "maps.html").read_text(), 0, "visits")[-1, sorted(holes)].sum() > 0


def test_without_an_environment_that_can_be_made_again_there_is_no_list(tmp_path):
    class Unknown(gymnasium.Env):
        observation_space, action_space = gymnasium.spaces.Discrete(3), gymnasium.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return 0, {}

        def step(self, action):
            return 1, 0.0, True, False, {}

        def __deepcopy__(self, memo):
            raise TypeError("it holds a connection")

    page = Agent(Unknown()).explain(tmp_path / "maps.html")
    assert page_data(page)["unsure"] == []
    assert "without its environment its visits are unknown" in page.read_text()


def test_the_table_has_names_and_escapes_them():
    maps = record(small_run("ucls/PuddleWorld-v0", "ucls-exact"), 200, moments=2)
    table = unsure_table(maps, ["<up>", "left", "down", "right"], ["x", "y"])
    heads = re.findall(r"<th[^>]*>([^<]*)</th>", table)
    assert heads[:2] == ["x", "y"]
    assert "<up>" not in table
    assert "&lt;up&gt;" in table
    assert table.count("<tr>") == 1 + len(maps.unsure)


@in_a_browser
@pytest.mark.parametrize("env", ["CartPole-v1", "FrozenLake-v1"])
def test_a_click_picks_a_state_and_shows_its_intervals_and_planes(tmp_path, env):
    agent = Agent(env, seed=1, **(POLE if env == "CartPole-v1" else {}))
    path = agent.explain(tmp_path / "maps.html", steps=100)
    data = page_data(path)
    with launched() as browser:
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        complaints = []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path.as_uri())
        page.get_by_role("button", name="look at 2").click()
        told = page.locator("#readout").inner_text()
        if env == "CartPole-v1":
            state = ", ".join(data["unsure"][1]["state"])
            assert f"in ({state}), after 100 steps" in told
            assert f"The planes go through ({state})" in page.locator("#lead").inner_text()
            page.locator("label:has-text('plane of') select").select_option("5")
            assert f"in ({state})" in page.locator("#readout").inner_text()
            page.locator("label:has-text('through') select").select_option("0")
            assert "Point at a map" in page.locator("#readout").inner_text()
            assert page.locator("input[type=range]").is_visible()
        else:
            assert f"state {data['unsure'][1]['state'][0]}, after 100 steps" in told
    assert complaints == []


def test_a_page_of_an_agent_without_bounds_can_be_written(tmp_path):
    maps = record(small_run("ucls/RiverSwim-v0", "sarsa"), 100, moments=2)
    page = write_page(tmp_path / "maps.html", "Sarsa", maps).read_text()
    assert "prior weight" not in page.split("<script")[0]


@pytest.mark.parametrize("there", [True, False])
def test_the_command_opens_the_page_and_tells_its_path(tmp_path, monkeypatch, capsys, there):
    monkeypatch.chdir(tmp_path)
    asked = []
    monkeypatch.setattr("webbrowser.open", lambda url: asked.append(url) or there)
    told = command("explain", "FrozenLake-v1", "--steps", "20", "--open")
    assert told.stdout.splitlines()[0] == "maps.html"
    assert asked == [(tmp_path / "maps.html").as_uri()]
    assert ("no browser was found to open the page" in told.output) is not there

"""Maps of what an agent is unsure of: they show what it thinks, change nothing, and need no network."""

import re

import numpy as np
import pytest

from support.browsers import in_a_browser, launched
from support.commands import ucls as command
from support.foreign import newest
from support.pages import decoded, page_data
from ucls import Agent
from ucls.agent.explain import look, record, views_of, write_page
from ucls.core.saving import checkpoint
from ucls.errors import UserError
from ucls.testing import small_run

RIVER, PUDDLE = "ucls/RiverSwim-v0", "ucls/PuddleWorld-v0"


def test_a_plane_runs_through_both_bounds_and_states_are_put_where_they_are_nearest():
    [view] = views_of([0.0, -1.0], [1.0, 1.0])
    assert (view.rows, view.columns) == (41, 41)
    assert view.points[0].tolist() == [0.0, -1.0]
    assert view.points[-1].tolist() == [1.0, 1.0]
    assert view.points[1].tolist() == [0.025, -1.0]
    states = view.points[[0, 5, 700]] + 0.004
    assert view.place(states).tolist() == [0, 5, 700]
    assert view.place(np.array([[-9.0, 9.0]])).tolist() == [40 * 41]


def test_more_dimensions_are_shown_as_planes_through_one_state():
    views = views_of([-1.0] * 4, [1.0] * 4, through=[0.0, 0.5, 0.25, -0.5])
    assert [view.dims for view in views] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert set(views[1].points[:, 1]) == {0.5}
    assert set(views[1].points[:, 3]) == {-0.5}
    assert len(set(views[1].points[:, 0])) == 25


def test_discrete_states_are_the_cells_of_their_grid_or_stand_in_rows_of_twenty():
    [view] = views_of([0.0], [15.0], discrete=True, grid=(4, 4))
    assert (view.rows, view.columns, len(view.points)) == (4, 4, 16)
    [view] = views_of([0.0], [46.0], discrete=True, grid=(4, 4))  # does not fit
    assert (view.rows, view.columns, len(view.points)) == (3, 20, 47)
    assert view.place(np.array([[30.0]])).tolist() == [30]
    with pytest.raises(UserError, match="too many for a map"):
        views_of([0.0], [1e5], discrete=True)


def test_a_recorded_run_is_the_same_run():
    plain, watched = small_run(RIVER, "ucls-exact"), small_run(RIVER, "ucls-exact")
    plain.advance(300)
    maps = record(watched, 300, moments=3)
    assert checkpoint.to_bytes(plain.checkpoint(), {}) == checkpoint.to_bytes(watched.checkpoint(), {})
    assert [moment.step for moment in maps.moments] == [0, 33, 133, 300]
    assert [moment.thoughts[0].visits.sum() for moment in maps.moments] == [0, 33, 133, 300]


def test_nothing_is_known_at_first_and_most_where_the_agent_has_been():
    run = small_run(RIVER, "ucls-exact")
    maps = record(run, 2000, moments=2)
    first, last = maps.moments[0].thoughts[0], maps.moments[-1].thoughts[0]
    assert (first.share == 1.0).all()
    mean, radius = run.learner.interval(maps.views[0].points[80])
    np.testing.assert_array_equal(last.mean[80], mean)
    np.testing.assert_allclose(last.unknown[80] + last.noisy[80], radius)
    assert np.average(last.share[:, 1], weights=last.visits) < last.share.max()
    widths = [row.radius[row.action] for row in maps.unsure]
    assert widths == sorted(widths, reverse=True)


def test_an_agent_that_tells_no_parts_has_its_radius():
    thought = look(small_run(RIVER, "ucls"), views_of([0.0], [1.0])).moments[0].thoughts[0]
    assert thought.unknown is None
    assert (thought.noisy > 0).all()


def test_the_page_holds_the_numbers_and_asks_nothing_of_a_network(tmp_path):
    maps = record(small_run(RIVER, "ucls-exact"), 200, moments=2)
    page = write_page(tmp_path / "a" / "maps.html", "A <b>title</b>", maps, ["down", "up"], {"seed": 0}).read_text()
    means = np.array([moment.thoughts[0].mean for moment in maps.moments])
    np.testing.assert_allclose(decoded(page, 0, "mean"), means, atol=np.ptp(means) / 60_000)
    actions = np.array([moment.thoughts[0].action for moment in maps.moments])
    np.testing.assert_array_equal(decoded(page, 0, "action")[..., 0], actions)
    assert "A &lt;b&gt;title" in page
    assert not re.search(r"https?://", page)


@in_a_browser
@pytest.mark.parametrize(("env", "width"), [(RIVER, 1200), (PUDDLE, 1200), (PUDDLE, 390)])
def test_a_browser_draws_the_maps_and_shows_the_intervals_under_the_pointer(tmp_path, env, width):
    path = write_page(tmp_path / "maps.html", "Maps", record(small_run(env, "ucls-exact"), 300, moments=3))
    with launched() as browser:
        page = browser.new_page(viewport={"width": width, "height": 900})
        asked, complaints = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path.as_uri())
        assert page.locator("figure canvas[role=img]").count() == 5
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        blank = (
            "c => new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size"
        )
        assert min(page.locator("figure canvas[role=img]").evaluate_all(f"all => all.map({blank})")) > 3
        assert "Point at a map" in page.locator("#readout").inner_text()
        page.locator("figure canvas[role=img]").first.hover()
        assert "after 300 steps" in page.locator("#readout h3").inner_text()
        page.locator("input[type=range]").fill("0")
        page.locator("figure canvas[role=img]").first.hover(position={"x": 100, "y": 60})
        assert "after 0 steps" in page.locator("#readout h3").inner_text()
        page.locator("figure canvas[role=img]").first.press("ArrowRight")
        assert "after 0 steps" in page.locator("#readout h3").inner_text()
    assert {url for url in asked if not url.startswith("data:")} == {path.as_uri()}
    assert complaints == []


@pytest.mark.parametrize("steps", [-1, 1.5, "x", True, None])
def test_steps_that_cannot_be_are_refused_in_one_line_and_no_page_is_written(tmp_path, steps):
    agent = Agent("FrozenLake-v1", "sarsa")
    with pytest.raises(UserError, match=r"steps cannot be .*: give an integer >= 0") as error:
        agent.explain(tmp_path / "maps.html", steps=steps)
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_the_command_learns_and_writes_a_page(tmp_path):
    out = tmp_path / "new" / "maps.html"
    told = command("explain", "FrozenLake-v1", "--steps", "150", "--out", out)
    assert told.stdout.strip() == str(out)
    data = page_data(out)
    assert data["steps"][-1] == 150
    assert (data["views"][0]["rows"], data["views"][0]["columns"]) == (4, 4)


def test_the_command_shows_a_run_that_was_kept_as_it_is_or_learns_on(tmp_path):
    run = tmp_path / "run"
    small = ("--set", "tilings=2", "--set", "tiles=3", "--set", "table_size=8")
    command("train", RIVER, "--steps", "300", "--out", run, *small)
    before = (run / "agent.safetensors").read_bytes()
    command("explain", run, "--out", tmp_path / "now.html")
    assert page_data(tmp_path / "now.html")["steps"] == [300]
    assert page_data(tmp_path / "now.html")["actions"] == ["down", "up"]
    command("explain", run, "--steps", "50", "--out", tmp_path / "on.html")
    assert page_data(tmp_path / "on.html")["steps"][-1] == 350
    assert (run / "agent.safetensors").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nothing-v0",), "unknown environment"),
        (("FrozenLake-v1", "--out", "."), "is a folder"),
        (("FrozenLake-v1", "--out", ""), "give a path"),
        ((newest("Taxi"), "--set", "nothing=1"), "nothing"),
        (("ucls/PuddleWorld-v0", "--steps", "1", "--slice-at", "1,2,3"), "2 numbers"),
    ],
)
def test_what_cannot_be_explained_is_one_line(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=message):
        command("explain", *words)
    assert list(tmp_path.iterdir()) == []


def test_an_agent_explains_itself(tmp_path):
    agent = Agent("CartPole-v1", seed=1, low=[-2.4, -3, -0.21, -3], high=[2.4, 3, 0.21, 3], features="tiles", tiles=2)
    agent.learn(20)
    data = page_data(agent.explain(tmp_path / "maps.html", slice_at=[0, 0, 0.1, 0]))
    assert data["steps"] == [20]
    assert data["views"][0]["through"] == ["0", "0", "0.1", "0"]
    assert data["views"][5]["title"] == "angle and angular velocity"


def test_a_page_replaces_a_page_and_nothing_else_and_is_refused_before_the_steps(tmp_path):
    page, notes = tmp_path / "maps.html", tmp_path / "notes.html"
    agent = Agent("FrozenLake-v1")
    agent.explain(page)
    agent.explain(page)
    notes.write_text("mine")
    for path, message in (
        (notes, "^[^:]* is not a page written by ucls"),
        (tmp_path / "notes.html" / "x", "cannot write a page to"),
    ):
        with pytest.raises(UserError, match=message):
            agent.explain(path, steps=50)
    assert agent.steps == 0
    assert notes.read_text() == "mine"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["maps.html", "notes.html"]

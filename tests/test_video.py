"""A film of an agent: the frames are the episode, the bars are its intervals, and nothing changes by watching."""

import sys

import gymnasium
import numpy as np
import pytest
from PIL import Image

from support.commands import ucls as command
from ucls import Agent
from ucls.agent.explain.clip import MARK
from ucls.agent.explain.panel import NOISY, UNKNOWN, WIDTH, film_of, frame_of
from ucls.agent.explain.scenes import Picture, Scene, rows_of, scale_of
from ucls.core.saving import checkpoint
from ucls.errors import UserError

RIVER = "ucls/RiverSwim-v0"
SMALL = {"tilings": 2, "tiles": 3, "table_size": 8}


def scene(mean, noisy, unknown=None, action=0, ending="", shade=255):
    picture = Picture.of(np.full((200, 100, 3), shade, np.uint8))
    parts = (np.array(mean, float), None if unknown is None else np.array(unknown, float), np.array(noisy, float))
    return Scene(picture, 1, 0, 0.0, *parts, action, ending)


def frames(path):
    with Image.open(path) as film:
        return [(film.seek(k), np.array(film.convert("RGB")))[1] for k in range(film.n_frames)]


def painted(frame, color):
    """Where a frame has a color: its columns, in pixels."""
    exact = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)])
    return np.flatnonzero((np.array(frame) == exact).all(axis=2).sum(axis=0) > 8)


class Plain(gymnasium.Env):
    """An environment that nobody registered; it shows what it is told to."""

    observation_space = gymnasium.spaces.Discrete(3)
    action_space = gymnasium.spaces.Discrete(2, start=5)
    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012, as Gymnasium declares it

    def __init__(self, shown=None, render_mode="rgb_array"):
        self.shown, self.render_mode = shown, render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return 0, {}

    def step(self, action):
        assert self.action_space.contains(action)
        self.steps += 1
        return self.steps % 3, 1.0, self.steps == 4, False, {}

    def render(self):
        if isinstance(self.shown, Exception):
            raise self.shown
        return self.shown


def test_a_film_has_a_frame_for_every_step_and_one_for_the_end(tmp_path):
    agent = Agent(Plain(), seed=1).learn(30)
    path = agent.record_video(tmp_path / "new" / "a.gif", 2, 10, env=Plain(np.full((60, 40, 3), 90, np.uint8)))
    assert agent.steps == 40
    with Image.open(path) as film:
        assert film.n_frames == 2 * (4 + 1)
        durations = [(film.seek(k), film.info["duration"])[1] for k in range(film.n_frames)]
        assert film.info["loop"] == 0
    assert durations == [50, 50, 50, 50, 1500] * 2
    assert [file.name for file in path.parent.iterdir()] == ["a.gif"]


def test_bars_lie_at_the_mean_and_reach_as_far_as_the_radius():
    scenes = [scene([0.0, 5.0], [1.0, 0.5], [2.0, 0.5]), scene([2.0, -5.0], [0.0, 0.0], [0.0, 0.0])]
    film = film_of("a film", scenes, ["left", "right"])
    frame = frame_of(film, scenes[0]).crop((116 + 16, 58, 116 + 16 + WIDTH, 58 + film.row))
    outer, inner = painted(frame, UNKNOWN), painted(frame, NOISY)
    unit = (WIDTH - 18) / (film.scale.high - film.scale.low)
    assert outer[-1] - outer[0] == pytest.approx(6 * unit, abs=3)
    assert inner[-1] - inner[0] == pytest.approx(2 * unit, abs=3)
    assert outer[0] + outer[-1] == pytest.approx(inner[0] + inner[-1], abs=4)
    assert outer[0] + 3 * unit == pytest.approx(10 + unit * (0 - film.scale.low), abs=3)


def test_the_scale_has_nearly_all_intervals_and_is_relative_where_values_change_much():
    steady = [scene([0.0, 1.0], [1.0, 1.0]) for _ in range(30)]
    assert scale_of(steady)[:2] == pytest.approx((-1.12, 2.12))
    assert scale_of(steady).ticks == (-1.0, 0.0, 1.0, 2.0)
    assert not scale_of(steady).relative
    assert scale_of([*steady, scene([0.0, 1.0], [1e6, 1.0])]).high < 3
    moving = [scene([-k, 1.0 - k], [0.1, 0.1]) for k in range(50)]
    assert scale_of(moving).relative
    assert scale_of(moving)[:2] == pytest.approx((-1.148, 0.148))
    assert scale_of([scene([3.0], [0.0])]).low < 3 < scale_of([scene([3.0], [0.0])]).high
    assert 0 < len(scale_of([scene([0.0], [0.0])]).ticks) <= 5


def test_of_many_actions_those_are_shown_that_were_taken_or_reach_highest():
    scenes = [scene(np.arange(100.0), np.zeros(100), action=3), scene(np.arange(100.0), np.zeros(100), action=None)]
    assert rows_of(scenes, 3) == [3, 98, 99]
    frame = frame_of(film_of("many", scenes, [f"action {a}" for a in range(100)]), scenes[1])
    assert frame.height < 700


def test_frames_differ_with_the_state_and_the_agent_is_as_before(tmp_path):
    agent = Agent(RIVER, seed=3, **SMALL).learn(400)
    before = checkpoint.to_bytes(agent.checkpoint(), {})
    seen = frames(agent.record_video(tmp_path / "a.gif", max_steps=12))
    assert checkpoint.to_bytes(agent.checkpoint(), {}) == before
    assert len(seen) == 13
    assert seen[0].shape == (394, 888, 3)
    beside = [frame[100:, 520:] for frame in seen]
    assert any((beside[0] != other).any() for other in beside[1:])
    assert (agent.learn(5).steps, agent.diverged) == (405, False)


def test_the_same_seed_is_the_same_film_and_greedy_is_not_exploring(tmp_path):
    agent = Agent(RIVER, "sarsa", seed=3, epsilon=1.0, **SMALL).learn(200)
    films = [agent.record_video(tmp_path / f"{k}.gif", max_steps=20, seed=5).read_bytes() for k in range(2)]
    assert films[0] == films[1]
    assert agent.record_video(tmp_path / "2.gif", max_steps=20, seed=5, deterministic=False).read_bytes() != films[0]


def test_every_few_steps_are_shown_and_the_end(tmp_path):
    agent = Agent(Plain(), seed=1)
    shown = Plain(np.zeros((20, 20, 3), np.uint8))
    assert len(frames(agent.record_video(tmp_path / "a.gif", every=3, env=shown))) == 3  # steps 0 and 3, and the end


@pytest.mark.parametrize("id", ["FrozenLake-v1", "CartPole-v1"])
def test_environments_of_gymnasium_are_drawn(tmp_path, id):
    pytest.importorskip("pygame", reason="pygame is not installed")
    bounds = {"low": [-2.4, -3, -0.21, -3], "high": [2.4, 3, 0.21, 3]} if id == "CartPole-v1" else {}
    agent = Agent(id, **bounds)
    seen = frames(agent.record_video(tmp_path / "a.gif", max_steps=3))
    assert len(np.unique(seen[0][60:, 16:270].reshape(-1, 3), axis=0)) > 3


def test_a_kept_run_is_watched_in_the_environment_it_was_in(tmp_path, monkeypatch):
    pytest.importorskip("pygame", reason="pygame is not installed")
    monkeypatch.chdir(tmp_path)
    command("train", "FrozenLake-v1", "--steps", "50", "--out", "run")
    before = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()}
    told = command("record-video", "run", "--max-steps", "3", "--fps", "10")
    assert told.stdout.strip() == "video.gif"
    assert MARK in (tmp_path / "video.gif").read_bytes()[:2000]
    assert {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()} == before
    command("record-video", "run", "--max-steps", "2")  # one of ours may be replaced
    assert len(frames("video.gif")) == 3


def test_a_file_names_no_environment_but_gymnasiums_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command("train", "FrozenLake-v1", "--steps", "20", "--out", "run")
    about, arrays = checkpoint.load(tmp_path / "run" / "agent.safetensors")
    assert about["named"] == {"env": "FrozenLake-v1", "settings": {}}
    for named in ({"env": "evil_module:FrozenLake-v1"}, {"env": "FrozenLake-v1", "settings": {"desc": ["S"]}}, 3, None):
        checkpoint.save(tmp_path / "spoilt.safetensors", {**about, "named": named}, arrays)
        with pytest.raises(UserError, match="the agent has no environment: give the one in which it was trained"):
            command("record-video", "spoilt.safetensors")
    assert "evil_module" not in sys.modules


def test_an_environment_of_a_factory_is_watched(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, shown in (("shown", "numpy.zeros((9, 9, 3), 'uint8')"), ("hidden", "None")):
        (tmp_path / f"lake_{name}.py").write_text(
            f"import numpy\nfrom test_video import Plain\ndef lake():\n    return Plain({shown})\n"
        )
    monkeypatch.syspath_prepend(tmp_path)
    command("record-video", "lake_shown:lake", "--steps", "10", "--max-steps", "2")
    assert len(frames("video.gif")) == 3
    with pytest.raises(UserError, match="not an RGB image"):
        command("record-video", "lake_hidden:lake", "--steps", "10")


def test_a_film_in_mp4_can_be_written_and_replaced(tmp_path):
    pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
    agent, shown = Agent(Plain(), seed=1), Plain(np.full((33, 41, 3), 90, np.uint8))
    for _ in range(2):
        film = agent.record_video(tmp_path / "a.mp4", env=shown).read_bytes()
        assert film[4:8] == b"ftyp"
        assert len(film) > 2000


def test_an_mp4_without_ffmpeg_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(UserError, match=r"an MP4 needs imageio-ffmpeg: pip install 'ucls\[render\]'"):
        Agent(RIVER, **SMALL).record_video(tmp_path / "a.mp4")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nothing-v0",), "unknown environment"),
        ((RIVER, "--out", "a.png"), "ends in .gif or .mp4"),
        ((RIVER, "--out", "film"), "ends in .gif or .mp4"),
        ((RIVER, "--out", ""), "give a path"),
        ((RIVER, "--env", RIVER), "--env applies to saved runs"),
        ((RIVER, "--steps", "0", "--episodes", "100"), "at most 5,000 frames"),
        ((RIVER, "--set", "nothing=1"), "nothing"),
    ],
)
def test_what_cannot_be_watched_is_one_line(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=message):
        command("record-video", *words)
    assert list(tmp_path.iterdir()) == []


def test_a_film_replaces_a_film_and_nothing_else(tmp_path):
    agent, mine = Agent(RIVER, **SMALL), tmp_path / "mine.gif"
    Image.new("RGB", (4, 4)).save(mine)
    before = mine.read_bytes()
    (tmp_path / "folder.gif").mkdir()
    for path, message in ((mine, "is not a video written by ucls"), (tmp_path / "folder.gif", "is a folder")):
        with pytest.raises(UserError, match=message):
            agent.record_video(path)
    assert mine.read_bytes() == before


@pytest.mark.parametrize(
    ("shown", "message"),
    [
        (None, "gave None, not an RGB image"),
        (np.zeros((4, 4), np.uint8), "not an RGB image"),
        (np.zeros((4, 4, 3)), "not an RGB image"),
        (gymnasium.error.DependencyNotInstalled("no pygame,\nrun pip"), "cannot be rendered: no pygame, run pip"),
    ],
)
def test_an_environment_that_cannot_be_drawn_is_one_line(tmp_path, shown, message):
    with pytest.raises(UserError, match=message) as told:
        (agent := Agent(Plain())).record_video(tmp_path / "a.gif", steps=10, env=Plain(shown))
    assert agent.steps == 0
    assert "\n" not in str(told.value)
    assert list(tmp_path.iterdir()) == []


def test_an_agent_is_watched_only_where_pictures_can_be_had_without_touching_its_run(tmp_path):
    agent, path = Agent(Plain()), tmp_path / "a.gif"
    with pytest.raises(UserError, match="is training in this environment"):
        agent.record_video(path, env=agent.env)
    blind = Plain(render_mode=None)
    blind.metadata = {"render_modes": ["ansi"]}
    with pytest.raises(UserError, match="does not render images: make it with render_mode='rgb_array'"):
        agent.record_video(path, env=blind)
    with pytest.raises(UserError, match="the agent was saved for"):
        agent.record_video(path, env=gymnasium.make(RIVER, render_mode="rgb_array"))
    loaded = Agent.load(agent.save(tmp_path / "agent.safetensors"))
    with pytest.raises(UserError, match="the agent has no environment"):
        loaded.record_video(path)
    assert loaded.record_video(path, env=Plain(np.zeros((9, 9, 4), np.uint8))) == path


@pytest.mark.parametrize("wrap", [lambda env: env, lambda env: gymnasium.wrappers.TimeLimit(env, 3)])
def test_an_environment_made_without_render_mode_is_watched_in_a_copy_that_has_one(tmp_path, wrap):
    agent = Agent(wrap(Plain(np.zeros((9, 9, 3), np.uint8), render_mode=None)))
    assert len(frames(agent.record_video(tmp_path / "a.gif", max_steps=2))) == 3
    given = Plain(np.zeros((9, 9, 3), np.uint8), render_mode=None)
    assert len(frames(agent.record_video(tmp_path / "a.gif", max_steps=2, env=given))) == 3
    assert (agent.env.render_mode, given.render_mode, agent.steps) == (None, None, 0)


@pytest.mark.parametrize("wrong", [{"episodes": 0}, {"fps": 51}, {"every": 1.5}, {"max_steps": -1}, {"seed": None}])
def test_numbers_that_make_no_film_are_refused(tmp_path, wrong):
    with pytest.raises(UserError, match=f"{next(iter(wrong))} cannot be"):
        Agent(RIVER, **SMALL).record_video(tmp_path / "a.gif", **wrong)

"""What tests of third-party environments share: a module that makes some, and a command beside it."""

import os
import subprocess
import sys
from pathlib import Path

import gymnasium

import ucls
from support.uncompiled import COPIES, ucls_uncompiled

LAKES = """
import gymnasium
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv

gymnasium.register("LakeOfTests-v0", entry_point=FrozenLakeEnv, max_episode_steps=30)
MADE = []
depth = 3


def make_lake(is_slippery=True, *, steps=30, note="none"):
    MADE.append(note)
    return gymnasium.wrappers.TimeLimit(FrozenLakeEnv(is_slippery=is_slippery), steps)


class Lake(FrozenLakeEnv):
    pass


class Lakes:
    make = staticmethod(make_lake)


def nothing(is_slippery=True):
    return 3


def not_yet():
    return Lake


def dry(is_slippery=True):
    raise RuntimeError("no\\nwater")


def over():
    raise SystemExit("that is all")
"""


def newest(name):
    """The newest installed version of one of Gymnasium's environments: `Taxi-v4`, in earlier releases `Taxi-v3`."""
    return max(id for id in gymnasium.registry if id.startswith(f"{name}-v"))


def write_lakes(folder):
    """Write the module `lakes`, and modules that cannot be imported, into a folder."""
    (folder / "lakes.py").write_text(LAKES)
    (folder / "muddy.py").write_text("import nothing_of_that_name\n")
    (folder / "broken.py").write_text("def :\n")
    (folder / "gone.py").write_text("raise SystemExit(0)\n")
    return folder


def command(folder, *words, **more):
    """Run `ucls` in a folder as a process of its own, with the compiler off."""
    if COPIES and not more and words[0] != "study":  # which starts processes
        return ucls_uncompiled(folder, *words)
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(Path(ucls.__file__).parents[1]), **more}
    line = [sys.executable, "-m", "ucls", *map(str, words)]
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def python(folder, code):
    """Run some lines in a folder with the compiler off."""
    path = os.pathsep.join([str(Path(ucls.__file__).parents[1]), str(folder)])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, check=True)


class Corridor(gymnasium.Env):
    """Five cells; the right end pays 1 and terminates, and every episode is truncated after 20 steps."""

    def __init__(self, observation=None, reward=1.0, actions=None):
        self.observation_space = gymnasium.spaces.Discrete(5, start=10)
        self.action_space = actions or gymnasium.spaces.Discrete(2, start=1)
        self._reward, self._observation = reward, observation

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cell, self.steps = 0, 0
        return 10, {}

    def step(self, action):
        assert action in (1, 2)
        self.cell = max(0, self.cell + (1 if action == 2 else -1))
        self.steps += 1
        done = self.cell == 4
        obs = 10 + self.cell if self._observation is None else self._observation
        return obs, self._reward * done, done, self.steps == 20, {}


HANGING = """
import time
import gymnasium

class Hanging(gymnasium.Env):
    observation_space, action_space = gymnasium.spaces.Discrete(3), gymnasium.spaces.Discrete(2)

    def __init__(self, hang):
        self.hang, self.t = hang, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        self.t += 1
        if self.hang and self.t > 5:
            time.sleep(3600)
        return self.t % 3, 1.0, self.t % 10 == 0, False, {}

def make(hang=False):
    return Hanging(hang)
"""

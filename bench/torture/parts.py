"""What the torture consists of: the parts by name, how much of each, and what each does."""

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from ucls.algorithms import ALGORITHMS

STRANGER = "my_agent"  # an algorithm outside the package, in examples/
EXAMPLES = Path(__file__).parents[2] / "examples"
CHECKPOINTS = 100_000
STEPS = 1_000_000
FEWER_STEPS = {"ucls": 300_000, "gv-ucb": 300_000, "lspi-rmax": 300_000, "ucls-exact": 300_000}
SHOWN = 20
SEEDS = 10**9  # a campaign's seed is where its trials begin to be numbered, in units of this
PATIENCE = dict.fromkeys(("checkpoints", "environments", "wrapped"), 120.0)  # some mutants must be compiled first


class Ask(NamedTuple):
    """How much is wanted of a part: so many trials from this seed on, or what there is time for."""

    count: int
    seed: int
    until: float


class Part(NamedTuple):
    """One part: its name, so many trials, about so many seconds, and whether kernels are compiled for it."""

    name: str
    count: int
    seconds: float
    compiled: bool = False

    @property
    def family(self) -> str:
        """The part of which this is one, where every algorithm has its own."""
        return self.name.partition("-")[0]

    def run(self, ask: Ask) -> dict[str, Any]:
        """Carry it out; how many were tried, how they ended, and what should not have been."""
        sys.path.append(str(EXAMPLES))
        module, about = FAMILIES[self.family]
        named = self.name.partition("-")[2]
        carry_out = getattr(import_module(f"bench.torture.{module}"), "carry_out", None)
        found = carry_out(ask, *([named] if named else [])) if carry_out else self._trials(ask, module, named)
        return {"about": about, **found}

    def _trials(self, ask: Ask, module: str, agent: str) -> dict[str, Any]:
        from bench.torture import workers

        maker: Any = import_module(f"bench.torture.{module}")
        attempt: Callable[[int], str] = maker.attempt
        if hasattr(maker, "prepare"):
            attempt = maker.prepare(*([[agent]] if agent else []))
        seeds = range(ask.seed * SEEDS, ask.seed * SEEDS + ask.count)
        found = workers.run(attempt, seeds, PATIENCE.get(self.family, 30.0), ask.until)
        return {"tried": len(found), "ends": workers.tally(found), **faults(found)}


def faults(found: Any) -> dict[str, Any]:
    """What should not have been, as data."""
    unsound = [outcome for outcome in found if not outcome.sound]
    return {"faults": len(unsound), "shown": [list(outcome) for outcome in unsound[:SHOWN]]}


FAMILIES = {
    "checkpoints": ("checkpoints", "spoilt checkpoints, loaded as a run and as an agent, and used"),
    "studies": ("studies", "mutated TOML files of studies, declared"),
    "stores": ("stores", "damaged stores and unfinished cells: read, run again, rescued"),
    "programs": ("programs", "stores with views, triggers and computed columns: read, run again, rescued"),
    "concurrent": ("concurrent", "several processes at once with one run folder or one store, some of them killed"),
    "impatience": ("impatience", "one to four signals at any moment of a run or a study, which is then resumed"),
    "logs": ("logs", "mutated logs of transitions, evaluated"),
    "folders": ("folders", "mutated histories, results and tables of metrics in the folder of a run, read"),
    "environments": ("environments", "environments that break their word, learned in"),
    "wrapped": ("wrapped", "agents in random wrappers, saved and loaded: the same environment, or a refusal"),
    "commands": ("commands", "command lines, half of them absurd"),
    "kills": ("kills", "SIGKILLs of drivers and workers in mid-study"),
    "signals": ("signals", "SIGINT and SIGTERM in mid-study, and the study run again"),
    "disk": ("disk", "a disk that is full in mid-study, and the study run again with room"),
    "memory": ("memory", "workers with less memory than they need, and the study run again with more"),
    "soak": ("soak", "long runs"),
}


def parts() -> Iterator[Part]:
    """All parts, in the order in which they are run."""
    agents = (*ALGORITHMS, STRANGER)
    for agent in agents:
        yield Part(f"checkpoints-{agent}", -(-CHECKPOINTS // len(agents)), 90.0, True)
    yield Part("studies", 20_000, 150.0)
    yield Part("stores", 2000, 120.0)
    yield Part("programs", 2000, 60.0)
    yield Part("concurrent", 2000, 500.0)
    yield Part("impatience", 2000, 500.0)
    yield Part("logs", 2000, 10.0)
    yield Part("folders", 7500, 60.0)
    yield Part("environments", 2000, 60.0, True)
    yield Part("wrapped", 2000, 240.0, True)
    yield Part("commands", 5000, 600.0)
    yield Part("kills", 200, 700.0, True)
    yield Part("signals", 8, 120.0)
    yield Part("disk", 10, 90.0)
    yield Part("memory", 4, 60.0)
    for agent in agents:
        yield Part(f"soak-{agent}", FEWER_STEPS.get(agent, STEPS), 90.0, True)

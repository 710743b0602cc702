"""The parts of the fuzzing and fault injection: names, numbers of trials, and what each does."""

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
    """The number of trials of a part, the first seed, and the time limit."""

    count: int
    seed: int
    until: float


class Part(NamedTuple):
    """One part: its name, number of trials, approximate seconds, and whether its kernels are compiled."""

    name: str
    count: int
    seconds: float
    compiled: bool = False

    @property
    def family(self) -> str:
        """The part of which this is one, where every algorithm has its own."""
        return self.name.partition("-")[0]

    def run(self, ask: Ask) -> dict[str, Any]:
        """Run it; return the number of trials, their outcomes and the faults."""
        sys.path.append(str(EXAMPLES))
        module, about = FAMILIES[self.family]
        named = self.name.partition("-")[2]
        carry_out = getattr(import_module(f"faults.torture.{module}"), "carry_out", None)
        found = carry_out(ask, *([named] if named else [])) if carry_out else self._trials(ask, module, named)
        return {"about": about, **found}

    def _trials(self, ask: Ask, module: str, agent: str) -> dict[str, Any]:
        from faults.torture import workers

        maker: Any = import_module(f"faults.torture.{module}")
        attempt: Callable[[int], str] = maker.attempt
        if hasattr(maker, "prepare"):
            attempt = maker.prepare(*([[agent]] if agent else []))
        seeds = range(ask.seed * SEEDS, ask.seed * SEEDS + ask.count)
        found = workers.run(attempt, seeds, PATIENCE.get(self.family, 30.0), ask.until)
        return {"tried": len(found), "ends": workers.tally(found), **faults(found)}


def faults(found: Any) -> dict[str, Any]:
    """The faults, as data."""
    unsound = [outcome for outcome in found if not outcome.sound]
    return {"faults": len(unsound), "shown": [list(outcome) for outcome in unsound[:SHOWN]]}


FAMILIES = {
    "checkpoints": ("checkpoints", "corrupted checkpoints, loaded as a run and as an agent, and used"),
    "studies": ("studies", "mutated TOML files of studies"),
    "stores": ("stores", "corrupted stores and unfinished runs: read, resumed, recovered"),
    "programs": ("programs", "stores with views, triggers and computed columns: read, resumed, recovered"),
    "concurrent": ("concurrent", "several processes sharing one run folder or store, some of them killed"),
    "impatience": ("impatience", "one to four signals at random moments of a run or study, which is then resumed"),
    "logs": ("logs", "mutated logs of transitions, evaluated"),
    "folders": ("folders", "mutated histories, results and metrics in a run folder"),
    "environments": ("environments", "environments that violate the Gymnasium API, used for training"),
    "wrapped": ("wrapped", "agents with randomly wrapped environments, saved and loaded"),
    "commands": ("commands", "command lines, half of them invalid"),
    "kills": ("kills", "SIGKILLs of drivers and workers during a study"),
    "signals": ("signals", "SIGINT and SIGTERM to the driver or to all processes"),
    "disk": ("disk", "files limited to 1 to 400,000 bytes, or disks of 100 to 600 KiB"),
    "memory": ("memory", "workers limited to 20 to 400 MiB more than they need to start"),
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

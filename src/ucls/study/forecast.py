"""Look at a study without running it: its groups, and how long what is missing would take."""

from pathlib import Path
from typing import Any

from ucls.settings import listed
from ucls.study.declare import Study, sweep_study
from ucls.study.runners.cores import cores
from ucls.study.store import Store, is_there

# Steps a second at default settings, as measured once; a store that knows better is asked first.
TYPICAL = {
    "ucls/RiverSwim-v0": {
        "ucls": 20_000,
        "ucls-exact": 12_000,
        "gv-ucb": 20_000,
        "lspi-rmax": 25_000,
        "lstd-sm": 25_000,
        "lstd-cg": 1_500,
    },
    "ucls/PuddleWorld-v0": {
        "ucls": 5_000,
        "ucls-exact": 4_500,
        "gv-ucb": 4_500,
        "lspi-rmax": 6_000,
        "lstd-sm": 10_000,
        "lstd-cg": 400,
    },
    "ucls/SparseMountainCar-v0": {
        "ucls": 800,
        "ucls-exact": 1_700,
        "gv-ucb": 800,
        "lspi-rmax": 1_000,
        "lstd-sm": 1_500,
        "lstd-cg": 200,
    },
    "ucls/MountainCar-v0": {
        "ucls": 800,
        "ucls-exact": 1_700,
        "gv-ucb": 800,
        "lspi-rmax": 1_000,
        "lstd-sm": 1_500,
        "lstd-cg": 200,
    },
}
LINEAR = {"ucbootstrap": 40_000}
FAST = 100_000
# Seconds until a worker takes its first step, kernels compiled already: to start and import, and to link the loop of
# each kind of run (docs/performance.md, "the first step"). Compiling kernels for the first time takes half a minute.
START, LINK = 3.0, 5.0


def groups_of(study: Study) -> list[dict[str, Any]]:
    """The groups of a study: how many runs each has, and the settings that tell it from others of its agent."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for label, cell in study.members:
        group = found.setdefault((label, cell.env), {"label": label, "env": cell.env, "agent": cell.agent, "runs": 0})
        group |= {"runs": group["runs"] + 1, "steps": cell.steps, "all": dict(cell.settings)}
    for t in study.tuned:
        s = t.sweep
        about = {"label": s.label, "env": s.env, "agent": s.agent, "runs": len(t.seeds), "steps": s.steps}
        found[s.label, s.env] = {**about, "all": {}, "settings": "tuned: " + ", ".join(s.space)}
    for group in found.values():
        if "settings" not in group:
            alike = [other["all"] for other in found.values() if (other["agent"], other["env"]) == _kind(group)]
            told = {name: value for name, value in group["all"].items() if any(o.get(name) != value for o in alike)}
            group["settings"] = listed(told) or "default"
    return [{name: value for name, value in group.items() if name != "all"} for group in found.values()]


def forecast(study: Study, path: Path, jobs: int | None) -> dict[str, Any]:
    """What a run of a study would do, and about how long it would take on this machine."""
    done: set[str] = set()
    speeds: dict[tuple[str, str], tuple[float, int]] = {}
    if is_there(path):
        with Store(path) as store:
            speeds = store.speeds()
            done = store.finished()
    cells = [(label, cell) for label, cell in (*sweep_study(study).members, *study.members)]
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    seen: set[str] = set()
    for label, cell in cells:
        if (id := cell.id) in seen:
            continue
        seen.add(id)
        speed, known = speed_of(cell.agent, cell.env, speeds)
        new = {"label": label, "env": cell.env, "agent": cell.agent, "missing": 0, "done": 0, "seconds": 0.0}
        new |= {"speed": speed, "known": known}
        group = groups.setdefault((label, cell.env), new)
        if id in done:
            group["done"] += 1
        else:
            group["missing"] += 1
            group["seconds"] += cell.steps / speed
    for t in study.tuned:
        s = t.sweep
        speed, known = speed_of(s.agent, s.env, speeds)
        seconds = len(t.seeds) * s.steps / speed
        about = {"label": f"{s.label} (the winner)", "env": s.env, "agent": s.agent, "missing": len(t.seeds), "done": 0}
        groups[s.label, s.env] = {**about, "seconds": seconds, "speed": speed, "known": known}
    jobs = jobs or cores()
    listed = list(groups.values())
    measured = all(group["known"] for group in listed)
    missing = sum(group["missing"] for group in listed)
    workers = max(1, min(jobs, missing))
    work = sum(group["seconds"] for group in listed) / workers
    longest = max((group["seconds"] / group["missing"] for group in listed if group["missing"]), default=0.0)
    kinds = {(group["agent"], group["env"]) for group in listed if group["missing"]}
    start = START + LINK * -(-len(kinds) // workers) if missing else 0.0
    return {
        "name": study.name,
        "groups": listed,
        "missing": missing,
        "minutes": (start + max(work, longest)) / 60,
        "start_seconds": start,
        "jobs": jobs,
        "basis": "speeds measured here" if measured else "some speeds are typical ones, not measured here",
    }


def speed_of(agent: str, env: str, measured: dict[tuple[str, str], tuple[float, int]]) -> tuple[float, bool]:
    """Steps a second of an agent in an environment, and whether they were measured here."""
    if (agent, env) in measured:
        return measured[agent, env][0], True
    return float(TYPICAL.get(env, {}).get(agent, LINEAR.get(agent, FAST))), False


def _kind(group: dict[str, Any]) -> tuple[str, str]:
    return group["agent"], group["env"]

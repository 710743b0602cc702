"""Files written before settings, features and metrics got their present names.

Reading translates them first, so that nothing else knows the old names. Third-party names are left alone.
"""

from collections.abc import Mapping
from typing import Any

SETTINGS = {  # by algorithm or features; "env" stands for every built-in environment
    "ucls-exact": {"m": "prior_visits", "factor": "noise_scale", "belief": "prior_scale"},
    "lspi-rmax": {"gmax": "return_max"},
    "rlsvi": {"l": "prior_precision"},
    "ucbootstrap": {"step": "step_size"},
    "tiles": {"memory": "table_size"},
    "random_fourier": {"number": "n_features", "width": "length_scale", "draw": "feature_seed"},
    "env": {"cutoff": "time_limit", "noise_sd": "noise_std", "goal_x": "goal_position"},
}
CHOICES: dict[tuple[str, str], tuple[str, Any]] = {
    ("step_size", "normalised"): ("normalize_step", True),
    ("step_size", "normalized"): ("normalize_step", True),
    ("step_size", "plain"): ("normalize_step", False),
    ("learned", "variance"): ("covariance", "learned"),
    ("learned", "counts"): ("covariance", "visit_counts"),
    ("initial", "fades"): ("initial_variance", "decaying"),
    ("initial", "stays"): ("initial_variance", "constant"),
    ("regulariser", "in"): ("regularizer", "inside"),
    ("regulariser", "out"): ("regularizer", "outside"),
    ("regularizer", "in"): ("regularizer", "inside"),
    ("regularizer", "out"): ("regularizer", "outside"),
    ("fading", "constant"): ("eta_schedule", "constant"),
    ("fading", "fading"): ("eta_schedule", "1/t"),
    ("stochastic", "no"): ("stochastic", False),
    ("stochastic", "yes"): ("stochastic", True),
}
CHANGED = ("sarsa", "ucls", "ucls-l", "lstd-cg", *SETTINGS)  # all that have renamed settings
FEATURES = {"rbf": "random_fourier", "given": "precomputed"}
METRICS = {
    "last_reward": "final_reward_per_step",
    "last_return": "final_return",
    "last_steps": "final_episode_length",
    "best_steps": "best_episode_length",
}
NAMES: dict[str, str] = {  # what to suggest to somebody who types an old name
    **{old: new for names in SETTINGS.values() for old, new in names.items()},
    **{old: new for (old, _), (new, _) in CHOICES.items() if old != new},
    **{"optimistic": "initial_value", "measure": "metric"},
    **FEATURES,
    **METRICS,
}


def current(owner: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of an algorithm, of features, or of a built-in environment ("env"), under their present names.

    >>> current("ucls-exact", {"m": 1.0, "lambda": 0.4})
    {'prior_visits': 1.0, 'lambda': 0.4}
    """
    if owner not in CHANGED:
        return dict(settings)
    found: dict[str, Any] = {}
    for name, value in settings.items():
        key = (name, value) if isinstance(value, str) else (name, "")
        new, value = CHOICES.get(key, (SETTINGS.get(owner, {}).get(name, name), value))
        found[new] = value
    if owner == "sarsa" and "optimistic" in found:
        start = found.pop("gmax", "return_max")
        found["initial_value"] = start if found.pop("optimistic") == "yes" else 0.0
    return found


def current_of_all(owner: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The same for a file with all settings. UCLS-L had plain step sizes before there was a setting."""
    found = current(owner, settings)
    return {"normalize_step": False, **found} if owner == "ucls-l" else found


def current_checkpoint(about: Mapping[str, Any]) -> dict[str, Any]:
    """The description in a checkpoint under present names; parts that are not as they should be are left alone."""
    found = dict(about)
    plan = about.get("plan")
    if isinstance(plan, Mapping) and isinstance(plan.get("features"), str):
        features = FEATURES.get(plan["features"], plan["features"])
        found["plan"] = {**plan, "features": features}
        for owner, name in ((plan.get("agent"), "settings"), (features, "feature_settings")):
            if isinstance(owner, str) and isinstance(plan.get(name), Mapping):
                found["plan"][name] = current_of_all(owner, plan[name])
    if _is_builtin(about.get("env")) and isinstance(about.get("env_settings"), Mapping):
        found["env_settings"] = current("env", about["env_settings"])
    named = about.get("named")  # an environment in wrappers
    if isinstance(named, Mapping) and _is_builtin(named.get("env")) and isinstance(named.get("settings"), Mapping):
        found["named"] = {**named, "settings": current("env", named["settings"])}
    return found


def _is_builtin(env: Any) -> bool:
    return isinstance(env, str) and env.startswith("ucls/")


def current_run(agent: str, features: str, env: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of a run in a store, each with its group (`agent.p`), under their present names."""
    owners = {"agent": agent, "features": FEATURES.get(features, features), "env": "env" if _is_builtin(env) else ""}
    found: dict[str, Any] = {}
    for group, owner in owners.items():
        own = {
            name.removeprefix(f"{group}."): value for name, value in settings.items() if name.startswith(f"{group}.")
        }
        found |= {f"{group}.{name}": value for name, value in current_of_all(owner, own).items()}
    return found


def current_winner(data: Mapping[str, Any]) -> dict[str, Any]:
    """The settings found by a sweep, as a store has them, under present names."""
    found = {"metric": data.get("measure"), **{name: value for name, value in data.items() if name != "measure"}}
    found["metric"] = METRICS.get(found["metric"], found["metric"])
    found["settings"] = current(data["agent"], data["settings"])
    found["trials"] = [{**trial, "settings": current(data["agent"], trial["settings"])} for trial in data["trials"]]
    return found

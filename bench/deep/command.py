"""`python -m bench deep`: run deep agents with settings tuned by others."""

import argparse
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main(words: list[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m bench deep", description=__doc__)
    parser.add_argument("--agents", nargs="+", default=["DQN", "QR-DQN", "PPO"], metavar="NAME", help="also ucls-plan")
    parser.add_argument("--only", nargs="*", default=[], metavar="WORD", help="environments with it in their title")
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds, from 0 on")
    parser.add_argument("--own-steps", action="store_true", help="as many steps as the settings were tuned for")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "deep.csv", help="the file of runs, which resumes")
    asked = parser.parse_args(words)
    import sys

    sys.path.append(str(ROOT / "examples"))
    from bench.deep.measure import chosen, measure
    from bench.deep.places import places

    measure(asked.agents, list(chosen(asked.only, places())), range(asked.seeds), asked.own_steps, asked.out)
    return 0

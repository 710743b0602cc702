"""What is timed, against what, in one run.

`python -m bench` measures every part and writes docs/performance.md; `python -m bench step growth` measures those two
and keeps them in out/bench beside what was measured before, from which `python -m bench page` writes the same page.
`--quick` takes less than a minute and proves nothing but that everything runs, `python -m bench check` is a gate for
regressions. A part is a module with `measure(effort) -> dict` (plain data) and `tables(found) -> list[Table]`.

Everything that is compared is timed in turns in the same process on the same core, so that a slow minute of the machine
hits all alike, and is reported as a ratio.
"""

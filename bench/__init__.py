"""Benchmarks.

`python -m bench` measures every part and writes docs/performance.md; `python -m bench step runs` measures those two
and saves them in out/bench with earlier measurements, from which `python -m bench page` writes the same page. `--quick`
takes less than a minute and only checks that everything runs; `python -m bench check` is a gate for regressions. A part
is a module with `measure(effort) -> dict` (plain data) and `tables(found) -> list[Table]`.

Versions that are compared run interleaved in the same process on the same core, so that load on the machine affects all
of them equally, and are reported as ratios.
"""

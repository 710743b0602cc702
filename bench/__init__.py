"""Benchmarks.

`python -m bench` measures every part, `python -m bench step runs` those two; `--docs` updates the data and the figure
of docs/performance.md. `--quick` takes less than a minute and only checks that everything runs; `python -m bench check`
is a gate for regressions. A part is a module with `measure(effort) -> dict` (plain data) and `tables(found) ->
list[Table]`.

Versions that are compared run interleaved in the same process on the same core, so that load on the machine affects all
of them equally, and are reported as ratios.
"""

"""The reproduction of the paper: its figures, tables and claims, by `ucls paper`.

A `figure_` is a module with `groups()`, the runs that it needs as data, and `plots(evidence)`; a `table_` has `HEADS`
and `rows(evidence)`; a module may have both. `contents` lists them, `reproduce` makes them. `sweeps` tunes the
baselines on separate seeds, and `claims` tests what the paper says. `beyond` compares the package's own algorithms; no
claim depends on it.
"""

"""The paper, reproduced: every figure, every claim, one command.

A `figure_` is a module with `groups()`, the runs it is made of as data, and `plots(evidence)`; a `table_` has `HEADS`
and `rows(evidence)`; a module may have both. `reproduce` lists and makes them all. `sweeps` tunes the competitors on
seeds of their own, and `claims` judges what the paper says. `beyond` is no part of the paper: it shows an agent that
goes further, and no claim is judged by it.
"""

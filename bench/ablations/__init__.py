"""Ablation of UCLS-Plan: the same runs with one part changed.

`python -m bench ablations` makes the runs that docs/data/planning-ablations.csv lacks, and adds them to it; `python -m
tools fill` makes the table of docs/planning.md from that file. Each change has a process and a folder of machine code
of its own, because it replaces functions of the package before they are compiled.

- `domains`: where runs are compared, and by what
- `changes`: what is changed
- `runs`: the command, and the file of results
- `table`: the table of the page
"""

"""One run: what a learner is (`plan`), the learner, and its two homes, the compiled loop and the agent.

`loop` runs a world of ours as machine code; `agent` meets any Gymnasium environment, one step at a time (`spaces` and
`inputs` read what it gives). Both keep a `history`. `train` is `ucls train`, and `run_folder` what it leaves.
"""

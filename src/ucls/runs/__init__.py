"""One run: what a learner is (`plan`), the learner, and its two homes, the compiled loop and the agent.

`loop` runs a world of ours as machine code; `agent` meets any Gymnasium environment, one step at a time (`stage`, with
`spaces`, `layout`, `scout` and `inputs`, reads what it gives). To those who only let it run either is an `AnyRun`.
`train` is what `ucls train` does, `run_folder` what it leaves, and `signals` how it is stopped.
"""

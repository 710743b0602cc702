"""Gymnasium environments, as agents see them.

`registry` makes environments by name and `adapter` steps one. `spaces`, `layout` and `observations` turn observations
into states, `bounds` finds or estimates their range, `discrete_actions` makes a grid of continuous actions.
"""

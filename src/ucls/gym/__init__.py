"""Gymnasium environments, as agents see them.

`registry` makes environments by name and `adapter` steps one. `spaces`, `layout` and `observations` turn
what it shows into the numbers of a state, `bounds` finds their range, `discrete_actions` makes a grid of actions.
"""

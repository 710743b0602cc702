"""The observation itself, for algorithms that learn their own features and scale it themselves.

All features are active, with the same values for every action. No bounds are needed, and none are estimated.
"""

from ucls.features.precomputed import Coder, Settings, allocation, encode, lookup, make

UNBOUNDED = True

__all__ = ["UNBOUNDED", "Coder", "Settings", "allocation", "encode", "lookup", "make"]

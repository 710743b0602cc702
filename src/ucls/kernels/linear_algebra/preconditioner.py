"""Measurements of B of a `system.System`, which starts as I and approximates the inverse of A'. Not used in a step."""

import numpy as np

from ucls.kernels.linear_algebra.system import System

DAMPED = 1e-6  # of |A|: singular values below this are what is left of features that were left long ago


def moved(system: System) -> float:
    """|B - I| / |I| (Frobenius) over the features seen."""
    n = int(system.seen[0])
    B = np.asarray(system.Bt[:n, :n], np.float64).T
    return float(np.linalg.norm(B - np.eye(n)) / np.sqrt(n)) if n else 0.0


def agreement(system: System, nu: np.ndarray) -> float:
    """The correlation of B'nu with A^-1 nu, its target, over the features seen; NaN if one is constant.

    A^-1 nu is by damped least squares: features of tiles depend on each other, so that A is singular.
    """
    n = int(system.seen[0])
    A = np.asarray(system.At[:n, :n], np.float64).T * system.scale[0]
    v = np.asarray(nu[:n], np.float64)
    stands = np.asarray(system.Bt[:n, :n], np.float64) @ v
    if n < 2 or not (v.any() and A.any()):
        return np.nan
    damping = (DAMPED * np.linalg.norm(A)) ** 2 * np.eye(n)
    wanted = np.linalg.solve(A.T @ A + damping, A.T @ v)
    if np.ptp(stands) == 0.0 or np.ptp(wanted) == 0.0:
        return np.nan
    return float(np.corrcoef(stands, wanted)[0, 1])

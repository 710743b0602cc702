"""Meyer's update of a pseudo-inverse: it is one in each of the six cases, and lost digits are noticed."""

import numpy as np
import pytest

from support.shadow import assert_close
from ucls.kernels import active as la
from ucls.kernels.linear_algebra import pseudo_inverse as pseudo
from ucls.kernels.linear_algebra import system as sy

D = 6


def active(x):
    return la.Active(np.arange(len(x)), np.asarray(x, np.float64))


NOTHING = active(np.zeros(D))


def changed(A, c, d, beta=0.25):
    """What the kernel makes of the pseudo-inverse of A, and what it should be that of, (1 - beta) A + beta c d'."""
    system, inverse = sy.system(D, np.float64), pseudo.pseudo_inverse(D, np.float64)
    new = (1 - beta) * A + beta * np.outer(c, d)
    system.At[:], system.seen[0] = new.T, D
    inverse.M[:] = np.linalg.pinv(A)
    sound = pseudo.average(inverse, system, D, beta, np.asarray(c, np.float64), active(d), 1.0, NOTHING)
    return inverse.M, new, sound


def cases():
    """A of rank 3, and a c and a d of each kind; beta c d' is chosen so that 1 + d'A+c is 0 where it is to be."""
    rng = np.random.default_rng(2)
    left, right = (np.linalg.qr(rng.normal(size=(D, D)))[0] for _ in range(2))
    A = left[:, :3] @ np.diag([3.0, 2.0, 1.0]) @ right[:, :3].T
    beta = 0.25
    for new_c in (True, False):
        for new_d in (True, False):
            for regular in (True, False):
                c, d = left[:, :3] @ rng.normal(size=3), right[:, :3] @ rng.normal(size=3)
                if not regular:
                    c *= -(1 - beta) / (beta * (d @ np.linalg.pinv(A) @ c))
                yield A, c + new_c * left[:, 4], d + new_d * right[:, 5], (new_c, new_d, regular)


@pytest.mark.parametrize(("A", "c", "d", "kind"), [*cases()], ids=lambda x: str(x) if isinstance(x, tuple) else "")
def test_it_is_the_pseudo_inverse_in_every_case(A, c, d, kind):
    found, new, sound = changed(A, c, d)
    rank = 3 + (kind[0] and kind[1]) - (kind == (False, False, False))
    assert np.linalg.matrix_rank(new) == rank
    assert sound
    assert_close(found, np.linalg.pinv(new, rcond=1e-10), "pseudo-inverse", 1e-9)


def test_it_starts_from_nothing():
    c, d = np.arange(D) - 2.0, np.ones(D)
    found, new, sound = changed(np.zeros((D, D)), c, d)
    assert sound
    assert_close(found, np.linalg.pinv(new), "pseudo-inverse", 1e-12)


def test_a_direction_that_was_left_long_ago_is_not_trusted():
    """Of a singular value of 1e-14 the inverse is 1e14; the new one, near 4, is the difference of two such numbers."""
    A = np.zeros((D, D))
    A[0, 0] = 1e-14
    x = np.eye(D)[0]
    assert not changed(A, x, x)[2]

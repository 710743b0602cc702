"""Products with a matrix kept by columns are NumPy's, of the leading block, whatever its size is modulo four."""

import numpy as np
import pytest

from ucls.kernels.linear_algebra import products


@pytest.mark.parametrize("n", [0, 1, 3, 4, 7, 12])
def test_products_are_those_of_the_leading_block(n):
    rng = np.random.default_rng(n)
    M, u, v = rng.normal(size=(12, 12)), rng.normal(size=12), rng.normal(size=12)
    Mt, block = np.ascontiguousarray(M.T), M[:n, :n]
    assert products.inner(u, v, n) == pytest.approx(u[:n] @ v[:n])
    np.testing.assert_allclose(products.times(Mt, n, v), block @ v[:n], rtol=1e-12)
    np.testing.assert_allclose(products.transposed_times(Mt, n, v), block.T @ v[:n], rtol=1e-12)
    both = products.transposed_times_both(Mt, n, u, v)
    np.testing.assert_allclose(both, [block.T @ u[:n], block.T @ v[:n]], rtol=1e-12)

"""Each algorithm box of the paper in plain dense NumPy: the oracle. Nobody optimizes it.

A box is written in the order and with the letters of the paper. Where the box is wrong, `literal=True` runs it as it is
printed, and `literal=False` with the corrections that docs and docstrings name.
"""

import numpy as np


class UCLS:
    """Algorithm 2, UCLS(lambda), with Algorithm 1, GetOptimisticAction."""

    def __init__(
        self,
        d,
        literal=False,
        p=0.1,
        lambda_=0.9,
        beta=0.001,
        eta=1e-4,
        c_max=1.0,
        b_step=0.01,
        w_step=1.0,
        solver="preconditioned",
        covariance="learned",
        averages="exponential",
        initial_variance="decaying",
    ):
        self.A = np.zeros((d, d))
        self.b, self.z, self.w = np.zeros(d), np.zeros(d), np.zeros(d)
        self.B, self.C = np.eye(d), c_max * np.eye(d)
        self.nu, self.c = np.zeros(d), np.ones(d)
        self.p, self.eta, self.beta, self.c_max, self.lambda_ = p, eta, beta, c_max, lambda_
        self.b_step, self.w_step = b_step, w_step
        self.literal = literal
        self.gamma_previous = 0.0
        self.solver, self.t, self.A_regularized = solver, 0, eta * np.eye(d)
        self.covariance, self.averages, self.initial_variance = covariance, averages, initial_variance

    def start(self):
        self.gamma_previous = 0.0

    def upper(self, x):
        """x'w + u, where x has a row for each action."""
        xCx = np.einsum("ai,ij,aj->a", x, self.C, x)
        if not self.literal:
            xCx = np.maximum(xCx, 0.0)
        return x @ self.w + np.sqrt((1 + 1 / self.p) * xCx)

    def update(self, x, r, gamma, x_next):
        self.t += 1
        beta = self.beta if self.averages == "exponential" else 1 / (self.t + 1)
        delta = r + (gamma * x_next - x) @ self.w
        if self.literal:
            self.z = gamma * self.lambda_ * self.z + x
        else:
            self.z = self.gamma_previous * self.lambda_ * self.z + x
        z = self.z
        self.b = (1 - beta) * self.b + beta * r * z
        self.A = (1 - beta) * self.A + beta * np.outer(z, x - gamma * x_next)

        alpha = min(1.0, self.b_step / (np.linalg.norm(self.A, "fro") ** 2 * (x @ x) + 1.0))
        if self.covariance == "learned":
            self.B = self.B - alpha * np.outer(self.A @ (self.A.T @ (self.B @ x) - x), x)

        self.nu = (1 - beta) * self.nu + beta * delta * z
        a = self.B.T @ self.nu if self.covariance == "learned" else 0 * self.nu
        temp = self.c_max
        self.c_max = max(self.c_max, np.max(a**2))
        if temp != self.c_max:
            for i in range(len(x)):
                self.C[i, i] += self.c[i] * (self.c_max - temp)
        near = np.flatnonzero(z != 0) if self.literal else np.flatnonzero(np.abs(z) > self.beta)
        if self.initial_variance == "decaying":
            self.c[near] *= 1 - beta
        block = np.ix_(near, near)
        self.C[block] = (1 - beta) * self.C[block] + beta * np.outer(a[near], a[near])

        self.A_regularized = (1 - beta) * self.A_regularized + beta * np.outer(z, x - gamma * x_next)
        self.w = self.solved()
        self.gamma_previous = gamma

    def solved(self):
        """The last line of the box, or an alternative of the appendix "Alternative updates for LSTD"."""
        identity, residual = np.eye(len(self.w)), self.b - self.A @ self.w
        if self.solver == "preconditioned":
            return self.w + self.w_step * (self.B.T + self.eta * identity) @ residual
        if self.solver == "fixed_step":
            return self.w + self.w_step * residual
        if self.solver == "sherman_morrison":
            return np.linalg.solve(self.A_regularized, self.b)
        if self.solver == "conjugate_gradient":
            return conjugate_gradient(self.A + self.eta * identity, self.b, self.w, 0.0)
        if self.solver == "pseudo_inverse":
            return np.linalg.pinv(self.A, rcond=1e-9) @ self.b
        return np.linalg.solve(self.A + self.eta * identity, self.b) if self.t % 100 == 0 else self.w


class Sarsa:
    """Sarsa(lambda) with accumulating traces; the paper has no box for it. Every value starts at q0."""

    def __init__(self, d, literal=False, alpha=0.1, lambda_=0.9, q0=0.0, normalized=True):
        self.w, self.z = np.zeros(d), np.zeros(d)
        self.alpha, self.lambda_, self.q0, self.normalized = alpha, lambda_, q0, normalized
        self.literal = literal
        self.gamma_previous = 0.0

    def start(self):
        self.gamma_previous = 0.0

    def values(self, x):
        """Q of every action, where x has a row for each."""
        return self.q0 + x @ self.w

    def update(self, x, r, gamma, x_next):
        alpha = self.alpha / (x @ x) if self.normalized else self.alpha
        delta = r + gamma * self.values(x_next) - self.values(x)
        self.z = (gamma if self.literal else self.gamma_previous) * self.lambda_ * self.z + x
        self.w = self.w + alpha * delta * self.z
        self.gamma_previous = gamma


class UCLSL:
    """UCLS-L(lambda), with GetOptimisticActionLinear; unless literal, step sizes are parts of an error."""

    def __init__(self, d, literal=False, p=0.1, lambda_=0.9, beta=0.001, v_init=1.0, alpha=None, alpha_var=0.1):
        self.w, self.w_var, self.z = np.zeros(d), np.zeros(d), np.zeros(d)
        self.w_init, self.c = np.ones(d) * v_init, np.ones(d)
        self.p, self.lambda_, self.beta, self.v_init = p, lambda_, beta, v_init
        self.alpha = alpha or (0.01 if literal else 0.1)
        self.alpha_var = alpha_var
        self.literal = literal
        self.gamma_previous = 0.0

    def start(self):
        self.gamma_previous = 0.0

    def upper(self, x):
        """x'w + u, where x has a row for each action."""
        norm = np.array([row @ np.diag(self.w_init) @ row for row in x])
        return x @ self.w + np.sqrt((1 + 1 / self.p) * ((x @ self.w_var) ** 2 + norm))

    def update(self, x, r, gamma, x_next):
        delta = r + (gamma * x_next - x) @ self.w
        delta_var = delta + (gamma * x_next - x) @ self.w_var
        size = 1.0 if self.literal else x @ x
        self.z = (gamma if self.literal else self.gamma_previous) * self.lambda_ * self.z + x
        self.w_var = self.w_var + self.alpha_var / size * delta_var * self.z
        temp = self.v_init
        self.v_init = max(self.v_init, np.max(self.w_var**2))
        if temp != self.v_init:
            self.w_init = self.w_init + self.c * (self.v_init - temp)
        for i in np.flatnonzero(self.z != 0 if self.literal else np.abs(self.z) > self.beta):
            self.c[i] *= 1 - self.beta
            if self.literal:
                self.w_init = (1 - self.beta) * self.w_init
            else:
                self.w_init[i] *= 1 - self.beta
        self.w = self.w + self.alpha / size * delta * self.z
        self.gamma_previous = gamma


class LSTDShermanMorrison:
    """LSTD(lambda) with Sherman-Morrison update; t counts from 1, and beta = 1/(t+1) unless it is given."""

    def __init__(self, d, literal=False, lambda_=0.9, eta=1e-4, beta=0.0):
        self.A_inv = np.eye(d) / eta
        self.b, self.z, self.w = np.zeros(d), np.zeros(d), np.zeros(d)
        self.lambda_, self.beta = lambda_, beta
        self.t = 0
        self.literal = literal
        self.gamma_previous = 0.0

    def start(self):
        self.gamma_previous = 0.0

    def values(self, x):
        """Q of every action, where x has a row for each."""
        return x @ self.w

    def update(self, x, r, gamma, x_next):
        self.z = (gamma if self.literal else self.gamma_previous) * self.lambda_ * self.z + x
        z = self.z
        self.t += 1
        beta = self.beta or 1 / (self.t + 1)
        self.b = self.b + beta * (r * z - self.b)
        v = (x - gamma * x_next) @ self.A_inv
        step = beta / (1 - beta) * np.outer(self.A_inv @ z, v) / ((1 - beta) + beta * v @ z)
        self.A_inv = self.A_inv / (1 - beta) - step
        self.w = self.A_inv @ self.b
        self.gamma_previous = gamma


class UCBootstrap:
    """UCBootstrap, over the weights of a base learner: one of the classes above."""

    def __init__(self, base, l=10, B=50, window=100, alpha=0.05):
        self.base, self.l, self.B, self.window, self.alpha = base, l, B, window, alpha
        self.recent = []

    def start(self):
        self.base.start()

    def upper(self, x, rng):
        """The bound u of every action, where x has a row for each."""
        return np.array([self.bound(row, rng)[1] for row in x])

    def bound(self, x, rng):
        """The mean of Q_N and the bound u of one action."""
        n = len(self.recent)
        if n == 0:
            return 0.0, 0.0
        l = min(self.l, n)
        M = n // l
        Q = np.array([w @ x for w in self.recent])
        blocks = [Q[i : i + l] for i in range(n - l + 1)]
        T = np.empty(self.B)
        for i in range(self.B):
            A = np.concatenate([blocks[int(rng.random() * len(blocks))] for _ in range(M)])
            T[i] = np.mean(A)
        T = np.sort(T)
        place = self.B * self.alpha / 2 + (self.alpha + 2) / 6
        j = int(np.floor(place))
        r = place - j
        lowest = (1 - r) * T[j - 1] + r * T[j]
        return Q.mean(), 2 * Q.mean() - lowest

    def update(self, x, r, gamma, x_next):
        self.base.update(x, r, gamma, x_next)
        self.recent = [*self.recent, self.base.w.copy()][-self.window :]


class GVUCB:
    """GV-UCB(lambda), with GetOptimisticActionGlobal; `corrected` is the covariance that replaces Corollary 1's."""

    def __init__(self, d, literal=False, corrected=False, p=0.01, lambda_=0.9, beta=0.001, eta=1e-4, b_step=0.01):
        self.A = np.zeros((d, d))
        self.b, self.z, self.w = np.zeros(d), np.zeros(d), np.zeros(d)
        self.B, self.C, self.zbar = np.eye(d), np.eye(d), np.zeros(d)
        self.sigma, self.rbar, self.r2bar = 1.0, 0.0, 100.0
        self.dbar, self.drbar, self.D = np.zeros(d), np.zeros(d), np.zeros((d, d))
        self.p, self.eta, self.beta, self.lambda_, self.b_step = p, eta, beta, lambda_, b_step
        self.literal, self.corrected = literal, corrected
        self.gamma_previous = 0.0

    def start(self):
        self.gamma_previous = 0.0

    def upper(self, x):
        xCx = np.einsum("ai,ij,aj->a", x, self.C, x)
        if not self.literal:
            xCx = np.maximum(xCx, 0.0)
        return x @ self.w + self.sigma * np.sqrt((1 + 1 / self.p) * xCx)

    def update(self, x, r, gamma, x_next, sign=1.0):
        """`sign` is the random sign of the corrected covariance; 1 is the box."""
        beta = self.beta
        if self.literal:
            self.z = gamma * self.lambda_ * self.z + x
        else:
            self.z = self.gamma_previous * self.lambda_ * self.z + x
        z = self.z
        d = x - gamma * x_next
        self.b = (1 - beta) * self.b + beta * r * z
        self.A = (1 - beta) * self.A + beta * np.outer(z, d)

        self.zbar = (1 - beta) * self.zbar + beta * sign * z
        a = self.B.T @ self.zbar
        near = np.flatnonzero(z != 0) if self.literal else np.flatnonzero(np.abs(z) > beta)
        block = np.ix_(near, near)
        self.C[block] = (1 - beta) * self.C[block] + beta * np.outer(a[near], a[near])

        self.rbar = (1 - beta) * self.rbar + beta * r
        self.r2bar = (1 - beta) * self.r2bar + beta * r**2
        self.dbar = (1 - beta) * self.dbar + beta * d
        self.drbar = (1 - beta) * self.drbar + beta * r * d
        self.D = (1 - beta) * self.D + beta * np.outer(d, d)
        nubar = self.rbar - self.dbar @ self.w
        nu2bar = self.r2bar - 2 * self.drbar @ self.w + self.w @ self.D @ self.w
        self.sigma = np.sqrt(nu2bar - nubar**2 if self.literal else max(0.0, nu2bar - nubar**2))

        alpha = min(1.0, self.b_step / (np.linalg.norm(self.A, "fro") ** 2 * (x @ x) + 1.0))
        self.B = self.B - alpha * np.outer(self.A @ (self.A.T @ (self.B @ x) - x), x)
        B = self.B if self.literal else self.B.T
        self.w = self.w + (B + self.eta * np.eye(len(x))) @ (self.b - self.A @ self.w)
        self.gamma_previous = gamma


class LSPIRmax:
    """Incremental LSPI-Rmax(m) with IsKnown, for features numbered (feature of the state) * |A| + action."""

    def __init__(self, d, n_actions, gmax, literal=False, m=5, beta=0.001, eta=1e-4, b_step=0.01):
        self.A, self.B = np.zeros((d, d)), np.eye(d)
        self.b, self.w, self.counts = np.zeros(d), np.zeros(d), np.zeros(d)
        self.n_actions, self.gmax, self.m, self.beta, self.eta, self.b_step = n_actions, gmax, m, beta, eta, b_step
        self.literal = literal

    def is_known(self, x):
        return self.counts[x != 0].min() > self.m

    def is_known_state(self, xs):
        counts = self.counts.reshape(-1, self.n_actions).sum(axis=1)
        active = xs[0].reshape(-1, self.n_actions)[:, 0] != 0
        return counts[active].min() > self.m

    def update(self, xs, a, r, gamma, xs_next, a_next):
        """A state after termination has features 0 and gamma 0."""
        beta, gmax, x = self.beta, self.gmax, xs[a]
        z = x  # lambda = 0
        terminal = not xs_next.any()
        if self.is_known(x):
            if terminal or self.is_known_state(xs_next):
                self.A = (1 - beta) * self.A + beta * np.outer(z, x - gamma * xs_next[a_next])
                self.b = (1 - beta) * self.b + beta * r * z
            else:
                self.A = (1 - beta) * self.A + beta * np.outer(x, x)
                self.b = (1 - beta) * self.b + beta * (r + gamma * gmax) * x
        else:
            self.A = (1 - beta) * self.A + beta * np.outer(x, x)
            self.b = (1 - beta) * self.b + beta * gmax * x
        for other in range(self.n_actions):
            if other != a and not self.is_known(xs[other]):
                self.A = (1 - beta) * self.A + beta * np.outer(xs[other], xs[other])
                self.b = (1 - beta) * self.b + beta * gmax * xs[other]
        self.counts = self.counts + (x if self.literal else x != 0)
        alpha = min(1.0, self.b_step / (np.linalg.norm(self.A, "fro") ** 2 * (x @ x) + 1.0))
        self.B = self.B - alpha * np.outer(self.A @ (self.A.T @ (self.B @ x) - x), x)
        B = self.B if self.literal else self.B.T
        self.w = self.w + (B + self.eta * np.eye(len(x))) @ (self.b - self.A @ self.w)


def conjugate_gradient(A, b, w, eta_r, literal=False, tol=0.001, most=50):
    """Conjugate Gradient(A, b, w, eta_r)."""
    A_tilde = A.T @ A + eta_r * np.eye(len(b))
    right = b if literal else A.T @ b
    r = right - A_tilde @ w
    if not literal and np.linalg.norm(r) <= tol * np.linalg.norm(right):
        return w
    d = r
    for _ in range(most):
        alpha = (r @ r) / (d @ A @ d if literal else d @ A_tilde @ d)
        w = w + alpha * d
        r_next = r - alpha * A_tilde @ d
        beta = (r_next @ r_next) / (r @ r)
        d = r_next + beta * d
        r = r_next
        if np.linalg.norm(r) <= (np.sqrt(tol) if literal else tol * np.linalg.norm(right)):
            break
    return w


class LSTDCG:
    """LSTD(lambda) with Conjugate Gradient."""

    def __init__(self, d, literal=False, regularizer="inside", eta=1e-4, fading=False, beta=0.0, lambda_=0.9, most=50):
        self.A, self.b, self.z, self.w = np.zeros((d, d)), np.zeros(d), np.zeros(d), np.zeros(d)
        self.regularizer, self.eta, self.fading, self.beta, self.lambda_ = regularizer, eta, fading, beta, lambda_
        self.literal, self.most = literal, most
        self.t, self.gamma_previous = 0, 0.0

    def start(self):
        self.gamma_previous = 0.0

    def regularized(self):
        """What is solved after t steps: the matrix A + eta I, and eta_r."""
        eta = self.eta / self.t if self.fading else self.eta
        inside = eta if self.regularizer == "inside" else 0.0
        return self.A + inside * np.eye(len(self.b)), eta - inside

    def update(self, x, r, gamma, x_next):
        self.t += 1
        self.z = (gamma if self.literal else self.gamma_previous) * self.lambda_ * self.z + x
        beta = self.beta or 1 / self.t
        self.b = self.b + beta * (r * self.z - self.b)
        self.A = self.A + beta * (np.outer(self.z, x - gamma * x_next) - self.A)
        A, eta_r = self.regularized()
        self.w = conjugate_gradient(A, self.b, self.w, eta_r, self.literal, most=self.most)
        self.gamma_previous = gamma


class DGPQ:
    """Algorithm DGPQ, with the reward shifted as the text says: V_max = 0."""

    def __init__(
        self, n_actions, r_max, literal=False, bandwidth=0.02, sigma_tol=0.03, epsilon=0.03, L_Q=5.0, noise=0.1
    ):
        self.bandwidth, self.sigma_tol, self.epsilon, self.L_Q, self.noise = bandwidth, sigma_tol, epsilon, L_Q, noise
        self.r_max, self.literal = r_max, literal
        self.BV = [[] for _ in range(n_actions)]
        self.additions = 0
        self.init_processes()

    def init_processes(self):
        """GP_a = GP.init(mu = Q-hat_a): the prior is Q-hat as it is now."""
        self.prior = [list(BV) for BV in self.BV]
        self.data = [([], []) for _ in self.BV]

    def lowest(self, BV, s):
        return min([0.0] + [mu + self.L_Q * np.linalg.norm(s - s_i) for s_i, mu in BV])

    def Q(self, s):
        """Q-hat of every action."""
        return np.array([self.lowest(BV, s) for BV in self.BV])

    def k(self, s, t):
        return np.exp(-np.sum((s - t) ** 2) / (2 * self.bandwidth))

    def process(self, a, s):
        """The mean and the variance of GP_a at s."""
        points, q = self.data[a]
        mean, variance = self.lowest(self.prior[a], s), self.k(s, s)
        if points:
            K = np.array([[self.k(x, y) for y in points] for x in points]) + self.noise * np.eye(len(points))
            k = np.array([self.k(s, x) for x in points])
            m = np.array([self.lowest(self.prior[a], x) for x in points])
            mean += k @ np.linalg.solve(K, np.array(q) - m)
            variance -= k @ np.linalg.solve(K, k)
        return mean, variance

    def update(self, s, a, r, gamma, s_next):
        q = r - self.r_max + (gamma * self.Q(s_next).max() if gamma > 0 else 0.0)
        variance_1 = self.process(a, s)[1]
        if variance_1 > self.sigma_tol:
            self.data[a][0].append(s)
            self.data[a][1].append(q)
        mean, variance_2 = self.process(a, s)
        if variance_1 > self.sigma_tol >= variance_2 and self.Q(s)[a] - mean > 2 * self.epsilon:
            mu = mean + self.epsilon
            self.additions += 1
            if self.literal:
                self.BV[a].append((s, mu))
                self.BV[a] = [(t, mu_j) for t, mu_j in self.BV[a] if not mu_j <= mu + self.L_Q * np.linalg.norm(s - t)]
            else:
                self.BV[a] = [(t, mu_j) for t, mu_j in self.BV[a] if not mu_j >= mu + self.L_Q * np.linalg.norm(s - t)]
                self.BV[a].append((s, mu))
            self.init_processes()


class RLSVI:
    """Stationary RLSVI, which has no box: Bayesian linear regression on the list of all transitions."""

    def __init__(self, d, prior_precision=1.0, sigma=1.0, resample_every=5000, n_backups=1, correlation=0.0):
        self.transitions = []
        self.theta, self.mean, self.Lambda = np.zeros(d), np.zeros(d), prior_precision * np.eye(d)
        self.prior_precision, self.sigma = prior_precision, sigma
        self.resample_every, self.n_backups = resample_every, n_backups
        self.since = 0
        self.correlation, self.xi = correlation, None

    def start(self, rng):
        self.sample(rng)

    def sample(self, rng):
        d = len(self.theta)
        X = np.array([x for x, _, _, _ in self.transitions]).reshape(-1, d)
        for _ in range(self.n_backups):
            y = np.array([r + gamma * np.max(xs_next @ self.theta) for _, r, gamma, xs_next in self.transitions])
            self.Lambda = X.T @ X / self.sigma**2 + self.prior_precision * np.eye(d)
            self.mean = np.linalg.solve(self.Lambda, X.T @ y) / self.sigma**2
            factor = np.linalg.cholesky(self.Lambda)
            fresh, c = rng.standard_normal(d), self.correlation
            self.xi = fresh if self.xi is None else c * self.xi + np.sqrt(1 - c**2) * fresh
            self.theta = self.mean + np.linalg.solve(factor.T, self.xi)
        self.since = 0

    def update(self, x, r, gamma, xs_next, rng):
        self.transitions.append((x, r, gamma, xs_next))
        self.since += 1
        if self.since == self.resample_every:
            self.sample(rng)

/* The UCLS step with the package's algebra: A and B by columns, A with a lazy scale, each read once. */
#include <math.h>
#include <string.h>

typedef struct {
    long d, k, length;
    REAL *At, *Bt, *C, *b, *w, *z, *nu, *c;
    REAL *q, *h, *u, *g, *a, *r; /* scratch, d each */
    long *near;                  /* scratch, d */
    double scale, norm2, c_max, gamma_previous;
    double lambda, beta, eta, b_step, w_step, tiny;
} Learner;

static double dot(const long *index, const double *value, long k, const REAL *w) {
    double sum = 0;
    for (long i = 0; i < k; i++) sum += value[i] * w[index[i]];
    return sum;
}

static void average(REAL *restrict y, const REAL *restrict z, long n, double beta, double c) {
    REAL keep = 1 - beta, add = beta * c;
    for (long i = 0; i < n; i++) y[i] = keep * y[i] + add * z[i];
}

static void add_column(Learner *s, long j, double dx, double z2) {
    REAL *restrict column = s->At + j * s->d, *restrict z = s->z;
    REAL c = s->beta * dx / s->scale, t = 0;
    for (long i = 0; i < s->d; i++) {
        t += column[i] * z[i];
        column[i] += c * z[i];
    }
    s->norm2 += s->scale * s->scale * (2.0 * c * t + (double)c * c * z2);
}

static void average_outer(Learner *s, const long *x, const double *xv, double gamma, const long *y, const double *yv) {
    long n = s->d;
    double z2 = 0;
    s->scale *= 1 - s->beta;
    s->norm2 *= (1 - s->beta) * (1 - s->beta);
    if (s->scale < 1e-3) {
        for (long i = 0; i < n * n; i++) s->At[i] *= (REAL)s->scale;
        s->scale = 1;
        s->norm2 = 0;
        for (long i = 0; i < n * n; i++) s->norm2 += (double)s->At[i] * s->At[i];
    }
    for (long i = 0; i < n; i++) z2 += (double)s->z[i] * s->z[i];
    for (long i = 0; i < s->k; i++) {
        double dx = xv[i];
        for (long j = 0; j < s->k; j++)
            if (y[j] == x[i]) dx -= gamma * yv[j];
        add_column(s, x[i], dx, z2);
    }
    for (long j = 0; j < s->k; j++) {
        int shared = 0;
        for (long i = 0; i < s->k; i++) shared |= x[i] == y[j];
        if (!shared) add_column(s, y[j], -gamma * yv[j], z2);
    }
}

/* g = A (A'q - x) and u = b - Aw, four columns at a time. */
static void pass_A(Learner *s) {
    long n = s->d;
    REAL scale = s->scale;
    REAL *restrict q = s->q, *restrict u = s->u, *restrict g = s->g;
    for (long j = 0; j < n; j += 4) {
        const REAL *restrict c0 = s->At + j * n, *restrict c1 = c0 + n, *restrict c2 = c1 + n, *restrict c3 = c2 + n;
        REAL w0 = s->w[j], w1 = s->w[j + 1], w2 = s->w[j + 2], w3 = s->w[j + 3];
        REAL s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        for (long i = 0; i < n; i++) {
            s0 += c0[i] * q[i];
            s1 += c1[i] * q[i];
            s2 += c2[i] * q[i];
            s3 += c3[i] * q[i];
            u[i] += (w0 * c0[i] + w1 * c1[i]) + (w2 * c2[i] + w3 * c3[i]);
        }
        REAL h0 = scale * s0 + s->h[j], h1 = scale * s1 + s->h[j + 1];
        REAL h2 = scale * s2 + s->h[j + 2], h3 = scale * s3 + s->h[j + 3];
        for (long i = 0; i < n; i++) g[i] += (h0 * c0[i] + h1 * c1[i]) + (h2 * c2[i] + h3 * c3[i]);
    }
    for (long i = 0; i < n; i++) {
        g[i] *= scale;
        u[i] = s->b[i] - scale * u[i];
    }
}

/* a = B'nu and r = B'v, four columns at a time. */
static void pass_B(Learner *s, const REAL *restrict v) {
    long n = s->d;
    const REAL *restrict nu = s->nu;
    for (long c = 0; c < n; c += 4) {
        const REAL *restrict c0 = s->Bt + c * n, *restrict c1 = c0 + n, *restrict c2 = c1 + n, *restrict c3 = c2 + n;
        REAL a0 = 0, a1 = 0, a2 = 0, a3 = 0, r0 = 0, r1 = 0, r2 = 0, r3 = 0;
        for (long i = 0; i < n; i++) {
            a0 += c0[i] * nu[i];
            a1 += c1[i] * nu[i];
            a2 += c2[i] * nu[i];
            a3 += c3[i] * nu[i];
            r0 += c0[i] * v[i];
            r1 += c1[i] * v[i];
            r2 += c2[i] * v[i];
            r3 += c3[i] * v[i];
        }
        s->a[c] = a0, s->a[c + 1] = a1, s->a[c + 2] = a2, s->a[c + 3] = a3;
        s->r[c] = r0, s->r[c + 1] = r1, s->r[c + 2] = r2, s->r[c + 3] = r3;
    }
}

static void update_C(Learner *s) {
    long n = s->d, count = 0;
    REAL keep = 1 - s->beta, add = s->beta;
    double before = s->c_max;
    for (long i = 0; i < n; i++) s->c_max = fmax(s->c_max, (double)(s->a[i] * s->a[i]));
    if (s->c_max != before)
        for (long i = 0; i < n; i++) s->C[i * n + i] += s->c[i] * (REAL)(s->c_max - before);
    for (long i = 0; i < n; i++)
        if (fabs((double)s->z[i]) > s->beta) s->near[count++] = i;
    for (long i = 0; i < count; i++) {
        REAL *row = s->C + s->near[i] * n, ai = add * s->a[s->near[i]];
        s->c[s->near[i]] *= keep;
        for (long j = 0; j <= i; j++) row[s->near[j]] = keep * row[s->near[j]] + ai * s->a[s->near[j]];
    }
}

static void update(Learner *s, const long *x, const double *xv, double r, double gamma, const long *y, const double *yv) {
    long n = s->d;
    REAL *restrict z = s->z, *restrict w = s->w, decay = s->gamma_previous * s->lambda, tiny = s->tiny;
    double delta = r + gamma * dot(y, yv, s->k, w) - dot(x, xv, s->k, w), x2 = 0;
    for (long i = 0; i < n; i++) {
        REAL zi = decay * z[i];
        z[i] = zi < tiny && zi > -tiny ? 0 : zi;
    }
    for (long i = 0; i < s->k; i++) z[x[i]] += (REAL)xv[i], x2 += xv[i] * xv[i];
    average(s->b, z, n, s->beta, r);
    average_outer(s, x, xv, gamma, y, yv);

    memset(s->q, 0, n * sizeof(REAL));
    memset(s->h, 0, n * sizeof(REAL));
    memset(s->u, 0, n * sizeof(REAL));
    memset(s->g, 0, n * sizeof(REAL));
    for (long c = 0; c < s->k; c++) {
        const REAL *restrict row = s->Bt + x[c] * n;
        REAL *restrict q = s->q, xc = xv[c];
        s->h[x[c]] -= xc;
        for (long i = 0; i < n; i++) q[i] += xc * row[i];
    }
    pass_A(s);
    double alpha = fmin(1.0, s->b_step / (s->norm2 * x2 + 1.0));
    for (long c = 0; c < s->k; c++) {
        REAL *restrict row = s->Bt + x[c] * n, *restrict g = s->g, step = alpha * xv[c];
        for (long i = 0; i < n; i++) row[i] -= step * g[i];
    }
    average(s->nu, z, n, s->beta, delta);
    pass_B(s, s->u);
    update_C(s);
    REAL step = s->w_step, eta = s->eta;
    for (long i = 0; i < n; i++) w[i] += step * (s->r[i] + eta * s->u[i]);
    s->gamma_previous = gamma;
}

void run(Learner *s, const long *index, const double *value, const double *r, double gamma, long first, long steps) {
    for (long t = first; t < first + steps; t++) {
        long i = t % s->length, k = s->k;
        update(s, index + i * k, value + i * k, r[i], gamma, index + (i + 1) * k, value + (i + 1) * k);
    }
}

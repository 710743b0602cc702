/* What the machine can do at best: read two matrices, or multiply and add. */
#include <stddef.h>

#if defined(__AVX512F__)
#define WIDTH 64
#define REGISTER "+v"
#elif defined(__AVX__)
#define WIDTH 32
#define REGISTER "+x"
#elif defined(__SSE2__)
#define WIDTH 16
#define REGISTER "+x"
#else
#define WIDTH 16
#define REGISTER "+w"
#endif

typedef REAL vec __attribute__((vector_size(WIDTH)));
#define LANES (WIDTH / sizeof(REAL))

size_t lanes(void) { return LANES; }

static REAL total(vec v) {
    REAL sum = 0;
    for (size_t i = 0; i < LANES; i++) sum += v[i];
    return sum;
}

/* Read n vectors, some times over, from S places at once. */
#define READ(S)                                                        \
    REAL read##S(const vec *p, size_t n, size_t times) {               \
        vec sum[S];                                                    \
        size_t m = n / S;                                              \
        for (int s = 0; s < S; s++) sum[s] = (vec){0};                 \
        for (size_t t = 0; t < times; t++) {                           \
            for (size_t i = 0; i < m; i++)                             \
                _Pragma("GCC unroll 8") for (int s = 0; s < S; s++) sum[s] += p[s * m + i]; \
            __asm__ volatile("" ::: "memory");                         \
        }                                                              \
        vec all = {0};                                                 \
        for (int s = 0; s < S; s++) all += sum[s];                     \
        return total(all);                                             \
    }
READ(1)
READ(2)
READ(4)
READ(8)

/* n times ten independent multiply-adds, enough to keep two units busy. */
#define TEN(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9)
#define BEGIN(s) vec a##s = x * (REAL)s;
#define STEP(s) a##s = a##s * x + y; __asm__ volatile("" : REGISTER(a##s));
#define PLUS(s) +a##s

REAL multiply_add(size_t n, REAL factor, REAL term) {
    vec x = (vec){0} + factor, y = (vec){0} + term;
    TEN(BEGIN)
    for (size_t t = 0; t < n; t++) { TEN(STEP) }
    return total(x TEN(PLUS));
}

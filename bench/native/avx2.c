/*
 * The algorithms of the WASM kernels in C, with hand-written AVX2 code that computes four rows at a time. The benchmark compiles this file
 * with -O3 -march=native. Numbers of rows and levels must be multiples of four.
 */
#include <immintrin.h>
#include <stdint.h>

typedef double v4 __attribute__((vector_size(32), aligned(8)));
typedef int64_t i4 __attribute__((vector_size(32), aligned(8)));

#define SPLAT(x) ((v4){(x), (x), (x), (x)})
#define LOAD(p, i) (*(const v4 *)((p) + (i)))
#define STORE(p, i, x) (*(v4 *)((p) + (i)) = (x))

static inline v4 choose(i4 mask, v4 a, v4 b) { return (v4)(((i4)a & mask) | ((i4)b & ~mask)); }
static inline v4 at_least(v4 x, double bound) { return _mm256_max_pd(SPLAT(bound), x); }
static inline v4 at_most(v4 x, double bound) { return _mm256_min_pd(SPLAT(bound), x); }
static inline v4 root(v4 x) { return _mm256_sqrt_pd(x); }
static inline v4 magnitude(v4 x) { return (v4)((i4)x & INT64_MAX); }

/* Returns e^x as 2^k e^r, with x = k ln 2 + r (Cody and Waite 1980). Returns 0 if x < -708. */
static inline v4 exp4(v4 x) {
  const double shift = 6755399441055744.0 + 1023.0;
  v4 bounded = at_most(x, 710.0);
  v4 shifted = bounded * 1.4426950408889634 + shift;
  v4 k = shifted - shift;
  v4 power = (v4)((i4)shifted << 52);
  v4 r = bounded - 0.6931471805592082 * k - 7.371002565167799e-13 * k;
  v4 rr = r * r;
  v4 rrrr = rr * rr;
  v4 e2 = 0.16666666666666669 * r + 0.5000000000000001;
  v4 e4 = 0.008333333333330065 * r + 0.041666666666624164;
  v4 e6 = 0.00019841269863040545 * r + 0.0013888888917196719;
  v4 e8 = 0.0000027557268480310024 * r + 0.000024801521322368692;
  v4 e10 = 2.5100375832561234e-8 * r + 2.7620075879983367e-7;
  v4 tail = (e2 + e4 * rr) + ((e6 + e8 * rr) + e10 * rrrr) * rrrr;
  v4 value = power * (1.0 + (r + rr * tail));
  return choose(x < -708.0, SPLAT(0.0), value);
}

/* Returns ln(a / b) as k ln 2 + 2 atanh((a - b 2^k) / (a + b 2^k)). */
static inline v4 log_ratio(v4 a, v4 b) {
  i4 powers = (((i4)a - (i4)b) + (1LL << 51)) & -(1LL << 52);
  v4 scaled = (v4)((i4)b + powers);
  i4 biased = (i4)((uint64_t __attribute__((vector_size(32))))(powers + (2047LL << 52)) >> 52);
  v4 k = (v4)(biased | (i4)SPLAT(4503599627370496.0)) - (4503599627370496.0 + 2047.0);
  v4 z = (a - scaled) / (a + scaled);
  v4 w = z * z;
  v4 ww = w * w;
  v4 odd = 0.13604015707124079 * ww + 0.15388834677801916;
  v4 even = 0.1321036048513262 * ww + 0.18181738454723026;
  odd = odd * ww + 0.22222223037807243;
  even = even * ww + 0.2857142856733919;
  odd = odd * ww + 0.400000000000078;
  even = even * ww + 0.6666666666666666;
  /* `even` has the coefficients of the even powers of w, `odd` those of the odd powers. */
  v4 tail = z * w * (even + odd * w);
  return 0.6931471805592082 * k + ((z + z) + (7.371002565167799e-13 * k + tail));
}

/* Returns N(-x) / phi(x) for x >= 0, with the normal distribution function N and its density phi. */
static inline v4 mills(v4 x) {
  v4 xx = x * x;
  v4 odd = 0.000003312647866482141 * xx + 0.0011918879056637371;
  v4 even = 0.00008989335304680117 * xx + 0.009997476944762872;
  odd = odd * xx + 0.05804522847137155;
  even = even * xx + 0.24114299823053004;
  odd = odd * xx + 0.7170283568146741;
  even = even * xx + 1.477734861707109;
  odd = odd * xx + 1.934653577146081;
  v4 p = (even * xx + 1.2533141373155003) + odd * x;
  odd = 0.00008989335304442532 * xx + 0.010087370285375504;
  even = 0.000003312647866493582 * xx + 0.001195200553752128;
  odd = odd * xx + 0.2509606755725133;
  even = even * xx + 0.059230491552283014;
  odd = odd * xx + 1.6997775430138469;
  even = even * xx + 0.7727232026769386;
  odd = odd * xx + 2.3415147805097583;
  even = even * xx + 2.547320323376744;
  return p / ((even * xx + 1.0) + odd * x);
}

/* Returns value * N(d). `tail` is value * N(-|d|). */
static inline v4 leg(v4 value, v4 tail, v4 d) { return choose(d < 0.0, tail, value - tail); }

/* Computes prices and eight Greeks as raw partial derivatives (Black-Scholes-Merton). The columns of `in` are callPut, S, K, T, v, r, q: +1
 * for a call or -1 for a put, the spot S, the strike K, the time T in years, the volatility v, the rate r and the dividend yield q. The
 * columns of `out` are price, delta, gamma, vega, theta, rho, vanna, charm, volga. Each column begins `stride` doubles after the one before. */
void greeks(int64_t count, const double *in, double *out, int64_t stride) {
  for (int64_t i = 0; i < count; i += 4) {
    v4 sign = LOAD(in, i), S = LOAD(in + stride, i), K = LOAD(in + 2 * stride, i), T = LOAD(in + 3 * stride, i);
    v4 v = LOAD(in + 4 * stride, i), r = LOAD(in + 5 * stride, i), q = LOAD(in + 6 * stride, i);
    v4 root_t = root(T);
    v4 s = v * root_t;
    v4 x = log_ratio(S, K) + (r - q) * T;
    v4 per_s = 1.0 / at_least(s, 1e-100);
    v4 m = at_most(at_least(x * per_s, -1e9), 1e9);
    v4 d1 = m + 0.5 * s, d2 = m - 0.5 * s;
    v4 spot_now = S * exp4(-q * T), strike_now = K * exp4(-r * T);
    v4 a1 = magnitude(d1), a2 = magnitude(d2);
    i4 nearer = a1 < a2;
    v4 a = choose(nearer, a1, a2);
    v4 shared = choose(nearer, spot_now, strike_now) * (0.3989422804014327 * exp4(-0.5 * a * a));
    v4 spot_leg = sign * leg(spot_now, shared * mills(a1), sign * d1);
    v4 strike_leg = sign * leg(strike_now, shared * mills(a2), sign * d2);
    v4 per_spot = 1.0 / S;
    v4 per_v = root_t * per_s, per_root_t = v * per_s;
    v4 per_spot_shared = shared * per_spot;
    v4 vega = shared * root_t;
    v4 carry = q * spot_leg - r * strike_leg;
    v4 drift = (r - q) * per_s - 0.5 * d2 * per_root_t * per_root_t;
    STORE(out, i, at_least(spot_leg - strike_leg, 0.0));
    STORE(out + stride, i, spot_leg * per_spot);
    STORE(out + 2 * stride, i, per_spot_shared * per_spot * per_s);
    STORE(out + 3 * stride, i, vega);
    STORE(out + 4 * stride, i, carry - 0.5 * shared * v * per_root_t);
    STORE(out + 5 * stride, i, strike_leg * T);
    STORE(out + 6 * stride, i, -per_spot_shared * d2 * per_v);
    STORE(out + 7 * stride, i, (q * spot_leg - shared * drift) * per_spot);
    STORE(out + 8 * stride, i, vega * d1 * d2 * per_v);
  }
}

/* Computes sums[l], the sum over all rows of weight * gamma at level l. Each row and level takes one exponential. The logarithms of the
 * levels are computed once in a call. The columns of `in` are K, T, v, r, q, weight. There are at most LEVELS_MAX levels. */
#define LEVELS_MAX 1024
void gamma_profile(int64_t count, const double *in, int64_t stride, const double *levels, double *sums, int64_t level_count) {
  static double moves[LEVELS_MAX];
  double reference = levels[0];
  for (int64_t i = 0; i < level_count; i += 4) {
    STORE(moves, i, log_ratio(LOAD(levels, i), SPLAT(reference)));
    STORE(sums, i, SPLAT(0.0));
  }
  for (int64_t row = 0; row < count; row++) {
    double K = in[row], T = in[stride + row], v = in[2 * stride + row];
    double r = in[3 * stride + row], q = in[4 * stride + row], w = in[5 * stride + row];
    v4 s = v * root(SPLAT(T));
    v4 scale = w * 0.3989422804014327 * exp4(SPLAT(-q * T)) / (s * reference);
    v4 per_s = 1.0 / s;
    v4 from = (log_ratio(SPLAT(reference), SPLAT(K)) + (r - q) * T) * per_s + 0.5 * s;
    for (int64_t i = 0; i < level_count; i += 4) {
      v4 move = LOAD(moves, i);
      v4 d1 = move * per_s + from;
      STORE(sums, i, LOAD(sums, i) + scale * exp4(-0.5 * d1 * d1 - move));
    }
  }
}

/* The textbook formulas with exp, log and erfc of the C library, one row at a time. Columns are as in avx2.c. */
#include <math.h>
#include <stdint.h>

static double cdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }

void greeks(int64_t count, const double *in, double *out, int64_t stride) {
  for (int64_t i = 0; i < count; i++) {
    double sign = in[i], S = in[stride + i], K = in[2 * stride + i], T = in[3 * stride + i];
    double v = in[4 * stride + i], r = in[5 * stride + i], q = in[6 * stride + i];
    double root_t = sqrt(T), s = v * root_t;
    double d1 = (log(S / K) + (r - q) * T) / s + 0.5 * s, d2 = d1 - s;
    double dq = exp(-q * T), dr = exp(-r * T);
    double density = exp(-0.5 * d1 * d1) * 0.3989422804014327;
    double n1 = cdf(sign * d1), n2 = cdf(sign * d2);
    double vega = S * dq * density * root_t;
    out[i] = sign * (S * dq * n1 - K * dr * n2);
    out[stride + i] = sign * dq * n1;
    out[2 * stride + i] = dq * density / (S * s);
    out[3 * stride + i] = vega;
    out[4 * stride + i] = -S * dq * density * v / (2 * root_t) - sign * (r * K * dr * n2 - q * S * dq * n1);
    out[5 * stride + i] = sign * K * T * dr * n2;
    out[6 * stride + i] = -dq * density * d2 / v;
    out[7 * stride + i] = sign * q * dq * n1 - dq * density * ((r - q) / s - d2 / (2 * T));
    out[8 * stride + i] = vega * d1 * d2 / v;
  }
}

/* The textbook's formulas with the C library's exp, log and erfc, one row at a time: what a careful C programmer writes first. */
#include <math.h>
#include <stdint.h>

static double cdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }

void greeks(int64_t count, const double *in, double *out, int64_t stride) {
  for (int64_t at = 0; at < count; at++) {
    double sign = in[at], S = in[stride + at], K = in[2 * stride + at], T = in[3 * stride + at];
    double v = in[4 * stride + at], r = in[5 * stride + at], q = in[6 * stride + at];
    double root_t = sqrt(T), s = v * root_t;
    double d1 = (log(S / K) + (r - q) * T) / s + 0.5 * s, d2 = d1 - s;
    double dq = exp(-q * T), dr = exp(-r * T);
    double density = exp(-0.5 * d1 * d1) * 0.3989422804014327;
    double n1 = cdf(sign * d1), n2 = cdf(sign * d2);
    double vega = S * dq * density * root_t;
    out[at] = sign * (S * dq * n1 - K * dr * n2);
    out[stride + at] = sign * dq * n1;
    out[2 * stride + at] = dq * density / (S * s);
    out[3 * stride + at] = vega;
    out[4 * stride + at] = -S * dq * density * v / (2 * root_t) - sign * (r * K * dr * n2 - q * S * dq * n1);
    out[5 * stride + at] = sign * K * T * dr * n2;
    out[6 * stride + at] = -dq * density * d2 / v;
    out[7 * stride + at] = sign * q * dq * n1 - dq * density * ((r - q) / s - d2 / (2 * T));
    out[8 * stride + at] = vega * d1 * d2 / v;
  }
}

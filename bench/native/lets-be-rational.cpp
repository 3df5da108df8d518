// Jaeckel's Let's Be Rational, of whose sources this file is compiled together. The input columns are those of quantlib.cpp.
#include <cmath>
#include <cstdint>

extern "C" double implied_volatility_from_a_transformed_rational_guess(double price, double F, double K, double T, double q);

extern "C" void implied_volatility(int64_t count, const double *in, double *out, int64_t stride) {
  for (int64_t i = 0; i < count; i++) {
    double S = in[stride + i], K = in[2 * stride + i], T = in[3 * stride + i];
    double r = in[4 * stride + i], q = in[5 * stride + i], price = in[6 * stride + i];
    out[i] = implied_volatility_from_a_transformed_rational_guess(price * std::exp(r * T), S * std::exp((r - q) * T), K, T, in[i]);
  }
}

// QuantLib's own closed form (BlackCalculator) and its implied volatility, for the same rows.
#include <ql/pricingengines/blackcalculator.hpp>
#include <ql/pricingengines/blackformula.hpp>
#include <cmath>
#include <cstdint>

using namespace QuantLib;

extern "C" void greeks(int64_t count, const double *in, double *out, int64_t stride) {
  for (int64_t at = 0; at < count; at++) {
    double S = in[stride + at], K = in[2 * stride + at], T = in[3 * stride + at];
    double v = in[4 * stride + at], r = in[5 * stride + at], q = in[6 * stride + at];
    double discount = std::exp(-r * T);
    BlackCalculator option(in[at] > 0 ? Option::Call : Option::Put, K, S * std::exp((r - q) * T), v * std::sqrt(T), discount);
    out[at] = option.value();
    out[stride + at] = option.delta(S);
    out[2 * stride + at] = option.gamma(S);
    out[3 * stride + at] = option.vega(T);
    out[4 * stride + at] = option.theta(S, T);
    out[5 * stride + at] = option.rho(T);
  }
}

extern "C" void implied_volatility(int64_t count, const double *in, double *out, int64_t stride) {
  for (int64_t at = 0; at < count; at++) {
    double S = in[stride + at], K = in[2 * stride + at], T = in[3 * stride + at];
    double r = in[4 * stride + at], q = in[5 * stride + at], price = in[6 * stride + at];
    double forward = S * std::exp((r - q) * T);
    try {
      out[at] = blackFormulaImpliedStdDev(in[at] > 0 ? Option::Call : Option::Put, K, forward, price, std::exp(-r * T), 0.0,
                                          Null<Real>(), 1e-12, 100) / std::sqrt(T);
    } catch (const std::exception &) {
      out[at] = NAN;
    }
  }
}

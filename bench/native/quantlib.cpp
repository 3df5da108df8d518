// QuantLib's closed form (BlackCalculator) and its implied volatility. The columns of `greeks` are as in avx2.c, without vanna, charm and
// volga. The input columns of `implied_volatility` are callPut, S, K, T, r, q, price.
#include <ql/pricingengines/blackcalculator.hpp>
#include <ql/pricingengines/blackformula.hpp>
#include <cmath>
#include <cstdint>

using namespace QuantLib;

extern "C" void greeks(int64_t count, const double *in, double *out, int64_t stride) {
  for (int64_t i = 0; i < count; i++) {
    double S = in[stride + i], K = in[2 * stride + i], T = in[3 * stride + i];
    double v = in[4 * stride + i], r = in[5 * stride + i], q = in[6 * stride + i];
    double discount = std::exp(-r * T);
    BlackCalculator option(in[i] > 0 ? Option::Call : Option::Put, K, S * std::exp((r - q) * T), v * std::sqrt(T), discount);
    out[i] = option.value();
    out[stride + i] = option.delta(S);
    out[2 * stride + i] = option.gamma(S);
    out[3 * stride + i] = option.vega(T);
    out[4 * stride + i] = option.theta(S, T);
    out[5 * stride + i] = option.rho(T);
  }
}

extern "C" void implied_volatility(int64_t count, const double *in, double *out, int64_t stride) {
  for (int64_t i = 0; i < count; i++) {
    double S = in[stride + i], K = in[2 * stride + i], T = in[3 * stride + i];
    double r = in[4 * stride + i], q = in[5 * stride + i], price = in[6 * stride + i];
    double forward = S * std::exp((r - q) * T);
    try {
      out[i] = blackFormulaImpliedStdDev(in[i] > 0 ? Option::Call : Option::Put, K, forward, price, std::exp(-r * T), 0.0,
                                          Null<Real>(), 1e-12, 100) / std::sqrt(T);
    } catch (const std::exception &) {
      out[i] = NAN;
    }
  }
}

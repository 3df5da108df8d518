import { minIndex } from 'd3-array';
import type { GexView, Radar } from './page-answers.ts';

/** Initial number of days to expiry in the tool forms. If there is a radar answer, the expiry of this answer is used instead. */
const DAYS = 30;
const DIGITS = 6;

/** Returns values from the page for the arguments of tools, by argument name. An unknown value is left out. */
export function toolPrefill(
  ticker: string,
  at: string | null,
  view: GexView | undefined,
  radar: Radar | undefined,
): Record<string, string> {
  const known: Record<string, string | number | null | undefined> = { ticker, single_name_ticker: ticker, at };
  if (view) {
    const { levels, expiries } = view;
    const wanted = radar?.state_density.expiry;
    const row = wanted
      ? expiries.expiry.indexOf(wanted)
      : minIndex(expiries.tte, (tte) => Math.abs(tte - DAYS / 365.25));
    const [tte, iv, rate] = [expiries.tte[row], expiries.atm_iv[row], expiries.rate[row]];
    const forward = expiries.forward[row];
    Object.assign(known, {
      spot: levels.spot_price,
      spot_price: levels.spot_price,
      strike: levels.call_wall,
      ambush_strike: levels.call_wall,
      target_expiry: levels.whale_expiry,
      put_call: 'C',
      tte,
      iv,
      rate,
      // The dividend yield for which the forward of the model equals the forward of the chain.
      dividend: tte && forward && rate != null ? rate - Math.log(forward / levels.spot_price) / tte : undefined,
      current_iv: iv,
      days_to_expiry: tte === undefined ? undefined : Math.round(tte * 365.25),
    });
  }
  if (radar) {
    const { whale_fiat_kinetic, gex_potential_friction } = radar.gex_boundaries;
    Object.assign(known, {
      whale_fiat_kinetic: Math.round(whale_fiat_kinetic),
      gex_potential_friction: Math.round(gex_potential_friction),
      iv_crush_factor: 1,
      days_to_expiry: radar.state_density.days_to_expiry,
    });
  }
  return Object.fromEntries(
    Object.entries(known).flatMap(([name, value]) => {
      if (typeof value !== 'number') return value ? [[name, value]] : [];
      // Values of 1,000 or more are rounded to cents, because six significant digits would not preserve the cents.
      const digits = Math.abs(value) >= 1000 ? value.toFixed(2) : value.toPrecision(DIGITS);
      return Number.isFinite(value) ? [[name, String(Number(digits))]] : [];
    }),
  );
}

import { type Static, Type } from '@sinclair/typebox';
import { type AnalysisOptions, DEFAULT_OPTIONS, parseExpiries } from '../analytics/options.ts';
import { Failure } from '../errors.ts';
import { defaulted, dividendYield, oneOf, rate, ticker } from './schemas.ts';

/** A ticker, and how its chain is to be read: the options of an analysis that reproduce figures published elsewhere. */
export const chainInput = Type.Object(
  {
    ticker,
    forward: defaulted(
      oneOf(['parity', 'flat'], 'Forward price: parity of the quotes, or spot carried flat.'),
      DEFAULT_OPTIONS.forward,
    ),
    rate: defaulted(rate, DEFAULT_OPTIONS.rate),
    dividend: defaulted(dividendYield, DEFAULT_OPTIONS.dividend),
    gamma: defaulted(
      oneOf(['recomputed', 'feed'], 'Gamma: recomputed from the volatility, or as the feed gives it.'),
      DEFAULT_OPTIONS.gamma,
    ),
    iv: defaulted(
      oneOf(['otm', 'own'], "Volatility: the out-of-the-money side's, tested, or each contract's own as given."),
      DEFAULT_OPTIONS.iv,
    ),
    weight: defaulted(
      oneOf(['open_interest', 'volume'], 'What a contract counts by: contracts outstanding, or traded that day.'),
      DEFAULT_OPTIONS.weight,
    ),
    expiries: defaulted(
      Type.String({
        description: 'all, 0dte, a date YYYY-MM-DD, or next:N for N days.',
        pattern: '^(all|0dte|[0-9]{4}-[0-9]{2}-[0-9]{2}|next:[0-9]{1,4})$',
      }),
      'all',
    ),
  },
  { additionalProperties: false },
);

/** Throws `Failure('invalid_parameter')` where the expiries name a day that is none. */
export function analysisOptionsOf(input: Static<typeof chainInput>): AnalysisOptions {
  const expiries = parseExpiries(input.expiries);
  if (expiries) {
    const { forward, gamma, iv, weight } = input;
    return { forward, rate: input.rate, dividend: input.dividend, gamma, iv, expiries, weight };
  }
  const expected = 'must be all, 0dte, a date YYYY-MM-DD, or next:N for N days';
  throw new Failure('invalid_parameter', `/expiries ${expected}`, { faults: [{ field: '/expiries', expected }] });
}

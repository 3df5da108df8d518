import { type Static, Type } from '@sinclair/typebox';
import { type ChainReadOptions, DEFAULT_OPTIONS, DEFAULT_SIGN, parseExpiries } from '../analytics/chain/options.ts';
import { prepareInSteps } from '../analytics/chain/prepare.ts';
import type { PreparedChain } from '../analytics/chain/prepared-chain.ts';
import { ClientError } from '../errors.ts';
import type { Steps } from '../steps.ts';
import { signedAs } from './dealer-sign.ts';
import type { Context } from './operation.ts';
import { analysisPrice } from './prices.ts';
import { defaulted, dividendYield, oneOf, rate, ticker } from './schemas.ts';

/** A ticker and the options of the analysis of its chain. With other options than the defaults, figures of other tools are reproduced. */
export const chainInput = Type.Object(
  {
    ticker,
    forward: defaulted(
      oneOf(['parity', 'flat'], 'Forward price: by put-call parity of the quotes, or spot carried flat.'),
      DEFAULT_OPTIONS.forward,
    ),
    rate: defaulted(rate, DEFAULT_OPTIONS.rate),
    dividend: defaulted(dividendYield, DEFAULT_OPTIONS.dividend),
    gamma: defaulted(
      oneOf(['recomputed', 'feed'], 'Gamma: recomputed from the volatility, or as given by the feed.'),
      DEFAULT_OPTIONS.gamma,
    ),
    iv: defaulted(
      oneOf(['otm', 'own'], "Volatility: of the out-of-the-money side, tested, or each contract's own as given."),
      DEFAULT_OPTIONS.iv,
    ),
    weight: defaulted(
      oneOf(['open_interest', 'volume'], 'Weight of a contract: contracts outstanding, or traded that day.'),
      DEFAULT_OPTIONS.weight,
    ),
    sign: defaulted(
      oneOf(
        ['calls_long_puts_short', 'flow'],
        "Dealers' side: long calls and short puts, or opposite to customers' net positions by signed prints.",
      ),
      DEFAULT_SIGN,
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

type ChainInput = Static<typeof chainInput>;

/** Prepares a ticker's newest chain with the options of a request. Throws `ClientError` if the ticker has no chain, or no contract matches. */
export function* readChain(input: ChainInput, context: Context): Steps<PreparedChain> {
  const { sign, ...options } = optionsOf(input);
  const chain = context.market.chain(input.ticker);
  return yield* signedAs(sign, yield* prepareInSteps(chain, options, analysisPrice(chain)), context);
}

/** The options of a request, with defaults for absent options. Throws `ClientError` if `expiries` names a date that does not exist. */
export function optionsOf(input: Partial<ChainInput>): ChainReadOptions {
  const expiries = parseExpiries(input.expiries ?? 'all');
  if (expiries) {
    const { forward, rate, dividend, gamma, iv, weight, sign } = { ...DEFAULT_OPTIONS, sign: DEFAULT_SIGN, ...input };
    return { forward, rate, dividend, gamma, iv, weight, sign, expiries };
  }
  const expected = 'must be all, 0dte, a date YYYY-MM-DD, or next:N for N days';
  throw new ClientError('invalid_parameter', `/expiries ${expected}`, {
    fieldErrors: [{ field: '/expiries', expected }],
  });
}

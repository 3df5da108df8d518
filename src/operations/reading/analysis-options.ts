import { type Static, Type } from '@sinclair/typebox';
import {
  type ChainReadOptions,
  DEFAULT_OPTIONS,
  DEFAULT_SIGN,
  parseExpiries,
  parseSmileDynamics,
  SSR_MAX,
} from '../../analytics/chain/options.ts';
import { requireWeights } from '../../analytics/chain/prepare.ts';
import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import { invalidArgument } from '../../core/errors.ts';
import type { Steps } from '../../core/steps.ts';
import type { Answer, Context } from '../engine/operation.ts';
import { defaulted, objectOf, oneOf } from '../engine/schemas.ts';
import { dividendYield, rate, ticker } from '../engine/shared-fields.ts';
import { flowSignNotes } from './dealer-sign.ts';
import { expirySelection } from './expiry-choice.ts';
import { openInterestNotes, preparedChainOf, provenanceOf } from './market-reading.ts';

/** A ticker and the options for the analysis of its chain. With the right options, an analysis gives the figures of other tools. */
export const chainInput = objectOf({
  ticker,
  forward: defaulted(
    oneOf(
      ['parity', 'flat'],
      'Forward price. parity: from put-call parity of the quotes; flat: spot times e^((rate - dividend) years).',
    ),
    DEFAULT_OPTIONS.forward,
  ),
  rate: defaulted(rate, DEFAULT_OPTIONS.rate),
  dividend: defaulted(dividendYield, DEFAULT_OPTIONS.dividend),
  gamma: defaulted(
    oneOf(['recomputed', 'feed'], 'Gamma of a contract. recomputed: from its volatility; feed: as the feed gives it.'),
    DEFAULT_OPTIONS.gamma,
  ),
  iv: defaulted(
    oneOf(
      ['otm', 'feed', 'own'],
      'Volatility. otm: call and put of a strike share the volatility that the mid of the out-of-the-money side implies; feed: they share ' +
        "the feed's volatility of this side, if the option price at this volatility is between bid and ask or at most one tick outside, " +
        'or if bid or ask is missing; without such a volatility, feed is the same as otm; own: each contract has the volatility of the feed.',
    ),
    DEFAULT_OPTIONS.iv,
  ),
  weight: defaulted(
    oneOf(['open_interest', 'volume'], 'Weight of a contract: its open interest, or its volume of that day.'),
    DEFAULT_OPTIONS.weight,
  ),
  sign: defaulted(
    oneOf(
      ['calls_long_puts_short', 'short_both', 'flow'],
      'Position of dealers. calls_long_puts_short: long calls and short puts; short_both: short calls and puts; flow: the opposite of what customers bought and sold, by prints.',
    ),
    DEFAULT_SIGN,
  ),
  expiries: defaulted(
    Type.String({
      description:
        'Expiries to analyse: all, 0dte, a date YYYY-MM-DD, next:N for the next N days, or session for those that settle by the end of the session.',
      pattern: '^(all|0dte|session|[0-9]{4}-[0-9]{2}-[0-9]{2}|next:[0-9]{1,4})$',
    }),
    'all',
  ),
});

/** The argument for the smile dynamics, of operations with figures at other spots. */
export const smileDynamics = defaulted(
  Type.String({
    description:
      'Volatilities if spot moves. sticky_strike: each strike keeps its own; sticky_moneyness: each ratio of strike to forward does; ssr=R: the ' +
      'at-the-money volatility becomes that of the smile at R times the move, R from 0 (sticky_moneyness) over 1 (sticky_strike) to 2.5; ssr alone: ' +
      '1.5 for an index, 1 for other tickers.',
    pattern: '^(sticky_strike|sticky_moneyness|ssr(=[0-2]([.][0-9]{1,6})?)?)$',
  }),
  'sticky_strike',
);

/** `chainInput` of operations that have a flip. */
export const flipInput = objectOf({ ...chainInput.properties, smile_dynamics: smileDynamics });

export type ChainInput = Static<typeof chainInput> & Partial<Static<typeof flipInput>>;

/**
 * Prepares a ticker's newest chain with a request's options. Throws `ClientError` if there is no chain, no matching contract or no open
 * interest.
 */
export function* readChain(input: ChainInput, context: Context): Steps<PreparedChain> {
  const prepared = yield* preparedChainOf(optionsOf(input), input.ticker, context);
  requireWeights(prepared);
  return prepared;
}

/** Returns the result of `compute` for the chain of a request, with its provenance and further notes. Throws the errors of `readChain`. */
export function* answerChain<Result>(
  input: ChainInput,
  context: Context,
  compute: (prepared: PreparedChain) => Steps<Result>,
  notesOf: (prepared: PreparedChain) => string[] = () => [],
): Steps<Answer<Result>> {
  const prepared = yield* readChain(input, context);
  return {
    result: yield* compute(prepared),
    provenance: provenanceOf(prepared.chain, context, [
      ...openInterestNotes(prepared.chain),
      ...flowSignNotes(prepared),
      ...notesOf(prepared),
    ]),
  };
}

/** Returns the options of a request, with defaults for absent options. Throws `ClientError` if `expiries` is not a valid selection. */
export function optionsOf(input: Partial<ChainInput>): ChainReadOptions {
  const expiries = parseExpiries(input.expiries ?? 'all');
  if (expiries) {
    const { forward, rate, dividend, gamma, iv, weight, sign } = { ...DEFAULT_OPTIONS, sign: DEFAULT_SIGN, ...input };
    const ssr = ssrOf(input.smile_dynamics, input.ticker ?? '');
    return { forward, rate, dividend, gamma, iv, weight, sign, expiries, ssr, cashDividends: [] };
  }
  throw invalidArgument('/expiries', 'must be all, 0dte, a date YYYY-MM-DD, session, or next:N for N days');
}

/** Returns the options of a request that selects expiries by `expiry` or by `expiries`. Throws `ClientError` if it has both. */
export function optionsWithExpiry(input: Partial<ChainInput> & { readonly expiry?: string }): ChainReadOptions {
  const { expiry, expiries = 'all' } = input;
  if (expiry && expiries !== 'all')
    throw invalidArgument('/expiry', 'must not be combined with expiries, which selects expiries too');
  return { ...optionsOf(input), ...(expiry && { expiries: expirySelection(expiry) }) };
}

/** Returns the ratio of a request's smile dynamics. Throws `ClientError` if the text is none. */
export function ssrOf(text: string | undefined, ticker: string): number {
  const ssr = parseSmileDynamics(text ?? 'sticky_strike', ticker.toUpperCase());
  if (ssr !== undefined) return ssr;
  throw invalidArgument(
    '/smile_dynamics',
    `must be sticky_strike, sticky_moneyness, ssr or ssr=R with R from 0 to ${SSR_MAX}`,
  );
}

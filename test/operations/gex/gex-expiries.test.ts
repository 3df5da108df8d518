import { expect, test } from 'bun:test';
import type { Static } from '@sinclair/typebox';
import { addDays, closeOf } from '../../../src/market/calendar.ts';
import { VarianceClock } from '../../../src/market/variance-clock.ts';
import { getGexByExpiry } from '../../../src/operations/gex/gex-expiries.ts';
import { getLiveGexNodes } from '../../../src/operations/gex/gex-nodes.ts';
import { getOptionQuotes } from '../../../src/operations/options/option-quotes.ts';
import { runStrategicOmniRadar } from '../../../src/operations/surface/omni-radar.ts';
import type { SurfaceAnswer } from '../../../src/operations/surface/surface-answer.ts';
import { getVolatilitySurface } from '../../../src/operations/surface/surface-report.ts';
import { simulated } from '../../analytics/simulated.ts';
import {
  AS_OF,
  chainOf,
  contract,
  EXPIRY,
  LATER,
  quoted,
  range,
  TODAY,
  yearsTo,
} from '../../analytics/small-chains.ts';
import { callExtended, contextOf } from '../small-market.ts';

type Answer = Static<typeof getGexByExpiry.full>;

test('a series without open interest has no max pain', () => {
  const series = (expiry: string, openInterest: number) =>
    quoted({ strikes: range(95, 105), expiry, rest: { openInterest } });
  const chain = chainOf([...series(EXPIRY, 0), ...series(LATER, 7)]);
  const answer = callExtended(getGexByExpiry, { ticker: 'ACME' }, contextOf(chain));
  expect(answer).toMatchObject({ expiry: [EXPIRY, LATER], open_interest: [0, 154], max_pain: [null, 100] });
});

test('a series without a smile has its reason, and a volatility at the money only if both strikes next to the forward have quotes', () => {
  const index = { root: 'NDX', expiry: EXPIRY, strikes: range(90, 110), halfSpread: 0.01, rest: { openInterest: 1 } };
  const chain = chainOf(
    [
      ...quoted(index),
      // A placeholder: one far strike without a quote, whose volatility is the least of the feed.
      contract({ root: 'NDXP', expiry: EXPIRY, strike: 1, callPut: 1, iv: 0.02, openInterest: 5 }),
      ...quoted({ ...index, expiry: LATER, strikes: [60, 100] }),
      ...quoted({ ...index, root: 'NDXP', expiry: LATER, strikes: range(100, 112) }),
    ],
    { underlying: 'NDX' },
  );
  const answer = callExtended(getGexByExpiry, { ticker: 'NDX' }, contextOf(chain)) as Answer;
  const rows = answer.root.map((root, i) => [root, answer.expiry[i], answer.smile_refused[i]]);
  expect(rows).toEqual([
    ['NDX', EXPIRY, null],
    ['NDXP', EXPIRY, 'no_volatility'],
    ['NDX', LATER, 'too_few_strikes'],
    ['NDXP', LATER, 'one_sided'],
  ]);
  const atTheMoney = [
    'atm_iv',
    'atm_iv_bid',
    'atm_iv_ask',
    'atm_iv_trading',
    'expected_move',
    'straddle_move',
  ] as const;
  for (const column of [...atTheMoney, 'skew_25d'] as const) {
    expect(
      answer[column].map((each) => each === null),
      column,
    ).toEqual([false, true, true, column === 'skew_25d']);
  }
  expect(answer.atm_iv[3]!).toBeCloseTo(0.3, 3);
  const surface = callExtended(getVolatilitySurface, { ticker: 'NDX' }, contextOf(chain)) as SurfaceAnswer;
  for (const column of ['atm_iv', 'atm_iv_bid', 'atm_iv_ask'] as const)
    expect(surface.refused[column]).toEqual(answer[column].slice(1));
  expect(answer.open_interest[1]).toBe(5);
});

test('volatilities per year of trading time are those of the surface', () => {
  const dates = [3, 4, 7, 11, 18, 32].map((days) => addDays(TODAY, days));
  const clock = new VarianceClock(AS_OF);
  const chain = chainOf(
    dates.flatMap((expiry) => {
      const iv = 0.2 * Math.sqrt(clock.years(closeOf(expiry)) / yearsTo('ACME', expiry));
      return quoted({ expiry, iv, strikes: range(80, 120), halfSpread: 0.01, rest: { openInterest: 1 } });
    }),
  );
  const context = contextOf(chain);
  const answer = callExtended(getGexByExpiry, { ticker: 'ACME' }, context) as Answer;
  const surface = callExtended(getVolatilitySurface, { ticker: 'ACME' }, context) as SurfaceAnswer;
  expect(surface.expiries.expiry).toEqual(answer.expiry);
  for (const [i, tte] of answer.tte.entries()) {
    expect(answer.atm_iv_trading[i]!).toBeCloseTo(0.2, 2);
    expect(answer.atm_iv_trading[i]! ** 2 * surface.expiries.trading_years[i]!).toBeCloseTo(
      answer.atm_iv[i]! ** 2 * tte,
      12,
    );
    expect(answer.atm_iv[i]!).toBeWithin(answer.atm_iv_bid[i]! - 1e-9, answer.atm_iv_ask[i]! + 1e-9);
    expect(answer.expected_move[i]!).toBeCloseTo(answer.forward[i]! * answer.atm_iv[i]! * Math.sqrt(tte), 9);
  }
});

test('expiries, quotes, levels, radar and surface have one volatility, and one expected move', () => {
  const context = contextOf(simulated('SPY'));
  const args = { ticker: 'SPY' };
  const answer = callExtended(getGexByExpiry, args, context) as Answer;
  const surface = callExtended(getVolatilitySurface, args, context) as SurfaceAnswer;
  const quotes = callExtended(getOptionQuotes, args, context) as Required<Static<typeof getOptionQuotes.full>>;
  const levels = callExtended(getLiveGexNodes, args, context) as Static<typeof getLiveGexNodes.full>;
  expect(answer.expiry).toEqual(surface.expiries.expiry);
  for (const [i, row] of quotes.expiries.entries()) {
    const iv = expect.closeTo(answer.atm_iv[i]!, 12);
    expect(row).toMatchObject({ expiry: answer.expiry[i], atm_iv: iv, expected_move: answer.expected_move[i] });
    expect(row.skew_25d).toBe(answer.skew_25d[i]!);
    expect(quotes.straddle_move[i]).toBe(answer.straddle_move[i]!);
    expect([surface.expiries.atm_iv[i], levels.series[i]!.atm_iv]).toEqual([iv, iv]);
    expect(surface.expiries.skew_25d[i]).toBeCloseTo(answer.skew_25d[i]!, 12);
  }
  const expiry = answer.expiry[5]!;
  const radar = callExtended(runStrategicOmniRadar, { ...args, expiry }, context) as Static<
    typeof runStrategicOmniRadar.full
  >;
  expect(radar.state_density.atm_iv).toBeCloseTo(answer.atm_iv[5]!, 12);
  expect(radar.state_density.expected_move).toBeCloseTo(answer.expected_move[5]!, 9);
  expect(radar.straddle_move).toBeCloseTo(answer.straddle_move[5]!, 9);
});

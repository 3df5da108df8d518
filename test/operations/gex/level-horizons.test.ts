import { describe, expect, test } from 'bun:test';
import type { Static } from '@sinclair/typebox';
import { runToCompletion } from '../../../src/core/steps.ts';
import { newYorkInstant } from '../../../src/market/calendar.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { getLiveGexNodes, recordedGexNodes } from '../../../src/operations/gex/gex-nodes.ts';
import { getGexHorizons } from '../../../src/operations/gex/level-horizons.ts';
import { evaluateMarketHamiltonian } from '../../../src/operations/gex/market-hamiltonian.ts';
import { getGexHistory } from '../../../src/operations/history/gex-history.ts';
import { levelRecordOf } from '../../../src/operations/history/level-recorder.ts';
import { getLevelRecord } from '../../../src/operations/history/levels-held.ts';
import { getLevelsHistory } from '../../../src/operations/history/levels-history.ts';
import { getLevelsOfTickers } from '../../../src/operations/history/levels-of-tickers.ts';
import { getNewestLevels } from '../../../src/operations/history/newest-of-tickers.ts';
import { screenTickers } from '../../../src/operations/history/screen-tickers.ts';
import { calculateMertonProbability } from '../../../src/operations/surface/merton-probability.ts';
import { simulated } from '../../analytics/simulated.ts';
import { AS_OF, chainOf, EXPIRY, LATER, quoted, range, TODAY } from '../../analytics/small-chains.ts';
import {
  call,
  callExtended,
  callRoute,
  contextOf,
  performRoute,
  performTool,
  refusalOf,
  smallMarket,
} from '../small-market.ts';

type Answer = Static<typeof getGexHorizons.full>;

const horizonsOf = (chain: Chain, args: object = {}) =>
  callRoute(getGexHorizons, { ticker: chain.underlying, ...args }, contextOf(chain)) as unknown as Answer;

/** Puts weigh most in the first expiry, and calls at 112 in the later one, so that both sign and call wall differ. */
const DIVERGENT = (() => {
  const rows = (expiry: string, side: number, strike: number, openInterest: number) =>
    quoted({ strikes: range(85, 115), expiry, halfSpread: 0.01, rest: { openInterest: 5, volume: 2 } }).map((row) =>
      row.callPut === side && row.strike === strike ? { ...row, openInterest } : row,
    );
  return chainOf([...rows(EXPIRY, -1, 97, 900), ...rows(LATER, 1, 112, 9_000)]);
})();
const DIFFERENCE =
  /^Levels are of all expiries\. Those of the next 35 days differ: net GEX -[0-9.]+ million dollars per 1 % move, call wall \d+\.$/;

describe('levels by horizon', () => {
  test.each(['SPY', 'TSLA'])(
    'of %s are the levels of their expiries, and odds are those of the jump probability',
    (ticker) => {
      const chain = simulated(ticker);
      const context = contextOf(chain);
      const answer = horizonsOf(chain);
      for (const [horizon, expiries] of [
        ['35d', 'next:35'],
        ['session', 'session'],
        ['all', 'all'],
      ] as const) {
        const levels = answer[horizon];
        if (!levels) continue;
        const nodes = callRoute(getLiveGexNodes, { ticker, expiries }, context) as Record<string, number>;
        expect(levels).toMatchObject({
          call_wall: nodes.call_wall!,
          put_wall: nodes.put_wall!,
          max_pain: nodes.max_pain!,
        });
        expect([levels.gex_flip, levels.net_gex_mil]).toEqual([
          expect.closeTo(nodes.gex_flip!, 6),
          expect.closeTo(nodes.net_gex_mil!, 6),
        ] as never);
        for (const [wall, strike] of [
          [levels.call, levels.call_wall],
          [levels.put, levels.put_wall],
        ] as const) {
          expect(wall.strike).toBe(strike);
          expect(wall.distance_sd! * answer.session_move!).toBeCloseTo(Math.abs(strike - chain.spot), 9);
          for (const [odds, days] of [
            [wall.touch_1_session, 0],
            [wall.touch_5_sessions, 6],
          ] as const) {
            const args = { ticker, spot_price: chain.spot, ambush_strike: strike, days_to_expiry: days };
            // Far from spot, the odds are at least those of ending beyond the strike, which here are the jump diffusion's.
            expect(odds).toBeCloseTo(
              call(calculateMertonProbability, args, context) &&
                (callExtended(calculateMertonProbability, args, context).touch_probability as number),
              4,
            );
          }
        }
      }
      expect(answer.all.gross_share_pct).toBeCloseTo(100, 9);
      const extended = callExtended(getLiveGexNodes, { ticker }, context).horizons;
      const { ticker: _t, spot_price: _s, as_of: _a, sign_convention: _c, ...own } = answer as Record<string, unknown>;
      expect(extended).toEqual(own);
      expect(call(getLiveGexNodes, { ticker }, context)).not.toHaveProperty('horizons');
    },
  );

  test('a session is that of the quotes, or else the next one, and its deviation is that of a whole session', () => {
    const rows = [TODAY, '2026-01-06', EXPIRY].flatMap((expiry) =>
      quoted({ strikes: range(90, 110), expiry, iv: 0.2, halfSpread: 0.01, rest: { openInterest: 5, volume: 3 } }),
    );
    const [open, closed] = [AS_OF, newYorkInstant(TODAY, '20:00')].map((asOf) => horizonsOf(chainOf(rows, { asOf })));
    expect([open!.session_ends_at, open!.five_sessions_end_at]).toEqual([
      '2026-01-05T21:00:00.000Z',
      '2026-01-09T21:00:00.000Z',
    ]);
    expect([closed!.session_ends_at, closed!.session?.expiry]).toEqual(['2026-01-06T21:00:00.000Z', '2026-01-06']);
    expect(open!.session!.expiry).toBe(TODAY);
    // An hour before the close, a session still is a whole one.
    for (const { session_move } of [open!, closed!]) expect(session_move).toBeWithin(0.8, 1.8);
    const turnover =
      'The session is open: wall_stability counts the turnover up to the quotes, and falls as more is traded.';
    expect([open!.notes.includes(turnover), closed!.notes.includes(turnover)]).toEqual([true, false]);
  });

  test.each([
    [
      'no option settles in the session',
      [EXPIRY, LATER],
      ['session'],
      ['by the end of the session, 2026-01-05T21:00:00.000Z: session is null.'],
    ],
    [
      'none settles within 35 days',
      [LATER],
      ['session', '35d'],
      ['2026-01-05T21:00:00.000Z: session is null.', 'within 35 days: 35d is null.'],
    ],
  ])('levels that would be invented are null, with a note: %s', (_what, expiries, nulls, ends) => {
    const chain = chainOf(
      expiries.flatMap((expiry) => quoted({ strikes: range(90, 110), expiry, rest: { openInterest: 5 } })),
    );
    const answer = horizonsOf(chain) as Record<string, unknown> & Answer;
    expect(['session', '35d'].filter((each) => answer[each] === null)).toEqual(nulls);
    expect(answer.notes.map((each, i) => each.endsWith(ends[i]!))).toEqual(ends.map(() => true));
    expect([answer.all.call.wall_stability, answer.all.put.wall_stability]).toEqual([null, null]);
  });

  test('of selected expiries are theirs, and without quotes nothing is known of odds', () => {
    expect(horizonsOf(DIVERGENT, { expiries: LATER })).toMatchObject({
      '35d': null,
      all: { expiry: LATER, series: 1 },
    });
    const rows = quoted({ strikes: range(90, 110), rest: { openInterest: 5 } }).map((row) => ({
      ...row,
      ...{ bid: 0, ask: 0, gamma: 0.01 },
    }));
    const blind = horizonsOf(chainOf(rows), { gamma: 'feed' });
    expect(blind).toMatchObject({ session_move: null, all: { call: { distance_sd: null, touch_5_sessions: null } } });
  });
});

describe('answers over all expiries say where those of 35 days differ', () => {
  const { context, store } = smallMarket({ chains: [DIVERGENT] }, AS_OF);
  const id = store.levelsDue()[0]!;
  store.saveLevels(id, runToCompletion(levelRecordOf(DIVERGENT, store, 100_000)));
  const args = { ticker: 'ACME' };
  const energy = { ...args, whale_fiat_kinetic: 1e6, gex_potential_friction: 1e6, iv_crush_factor: 1 };
  const [levels] = context.market.newestLevels(['ACME']);

  test.each<[string, () => readonly string[]]>([
    ['the tool', () => performTool(getLiveGexNodes, args, context).provenance!.notes],
    ['the route', () => performRoute(getLiveGexNodes, args, context).provenance!.notes],
    ['the Hamiltonian', () => performTool(evaluateMarketHamiltonian, energy, context).echoes.notes as string[]],
    ['the record', () => performRoute(getLevelRecord, args, context).provenance!.notes],
    ['a live event', () => recordedGexNodes(levels!).provenance.notes],
  ])('%s', (_what, notesOf) => {
    expect(notesOf()).toContainEqual(expect.stringMatching(DIFFERENCE));
  });

  test('nothing is said where they agree, or of one expiry', () => {
    const notesOf = (chain: Chain, given: object) =>
      performTool(getLiveGexNodes, { ticker: chain.underlying, ...given }, contextOf(chain)).provenance!.notes;
    const same = chainOf(quoted({ strikes: range(90, 110), rest: { openInterest: 5 } }));
    for (const notes of [notesOf(same, {}), notesOf(DIVERGENT, { expiry: LATER })])
      expect(notes.filter((each) => each.includes('35 days'))).toEqual([]);
  });

  test('stored levels of a horizon: screen, history and newest levels', () => {
    const horizon = '35d';
    const nodes = callExtended(getLiveGexNodes, args, context) as unknown as { horizons: Answer };
    const month = nodes.horizons['35d']!;
    const row = {
      call_wall: month.call_wall,
      put_wall: month.put_wall,
      max_pain: month.max_pain,
      expiry: month.expiry,
    };
    const columns = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, [value]]));
    expect(callExtended(getLevelsHistory, { ...args, horizon }, context).levels).toMatchObject([row]);
    expect(callRoute(getGexHistory, { ...args, horizon }, context)).toMatchObject(columns);
    expect(callRoute(getNewestLevels, { tickers: ['ACME'], horizon }, context)).toMatchObject(columns);
    expect(callRoute(getLevelsOfTickers, { tickers: ['ACME'], horizon }, context)).toMatchObject(columns);
    const screened = (given: object) => callExtended(screenTickers, { tickers: ['ACME'], ...given }, context);
    expect(screened({ horizon }).rows).toMatchObject([
      { regime: month.regime, net_gex_mil: expect.closeTo(month.net_gex_mil, 9), gex_flip: null },
    ]);
    expect(screened({}).rows).toMatchObject([{ regime: 'undetermined' }]);
  });

  const leftOut = (what: string) =>
    `Left out for lack of levels of horizon=session: ${what}. No call or no put settled by the end of the session, or the chain is no longer stored.`;
  test('rows without levels of the horizon are left out and counted', () => {
    const horizon = 'session';
    const history = callRoute(getGexHistory, { ...args, horizon }, context) as { count: number; notes: string[] };
    expect([history.count, history.notes]).toEqual([0, [leftOut('1 rows')]]);
    const screened = callExtended(screenTickers, { tickers: ['ACME'], horizon }, context);
    expect([screened.rows, screened.without_data]).toEqual([[], []]);
    expect((screened as { notes?: string[] }).notes).toContain(leftOut('1 tickers'));
    expect(refusalOf(() => call(getLevelsHistory, { ...args, horizon }, context))).toMatchObject({
      code: 'unprocessable',
      message: 'No levels of horizon=session of ACME are stored at 2026-01-05T20:00:00.000Z',
    });
  });
});

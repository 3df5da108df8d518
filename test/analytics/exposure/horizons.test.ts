import { describe, expect, test } from 'bun:test';
import { prepareChain } from '../../../src/analytics/chain/prepare.ts';
import { gexLevels } from '../../../src/analytics/exposure/gex-levels.ts';
import { EXPIRIES_OF, HORIZONS, horizonLevels, withinHorizon } from '../../../src/analytics/exposure/horizons.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { sessionEnd } from '../../../src/market/calendar.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { STORED_HORIZONS } from '../../../src/market/level-record.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { recordedChain, recordedNames } from '../recorded.ts';
import { simulated } from '../simulated.ts';
import { chainOf, EXPIRY, LATER, preparedChain, quoted, range, TODAY } from '../small-chains.ts';

const PREMIUM = new Map([['SPY 2026-03-20', 5]]);

const levelsOf = (chain: Chain, premium = PREMIUM) => {
  const prepared = preparedChain(chain);
  const whole = runToCompletion(gexLevels(prepared, premium));
  return runToCompletion(horizonLevels(prepared, whole, premium));
};

/** The levels of a horizon are those of an analysis of its expiries alone. */
function expectOwnLevels(chain: Chain): void {
  const found = levelsOf(chain);
  for (const horizon of STORED_HORIZONS) {
    const levels = found[horizon];
    if (!levels) continue;
    const { prepared, ...set } = levels;
    const alone = preparedChain(chain, { expiries: EXPIRIES_OF[horizon] });
    const { exposures, dominant, ...others } = runToCompletion(gexLevels(alone, PREMIUM));
    expect(prepared.series.map(({ series }) => series)).toEqual(alone.series.map(({ series }) => series));
    expect(set).toMatchObject({
      ...others,
      flip: { resolved: others.flip.resolved, level: expect.closeTo(others.flip.level, 9) },
      exposures: { gex: expect.closeTo(exposures.gex, 3), grossGex: expect.closeTo(exposures.grossGex, 3) },
    });
    expect(set.dominant.series).toEqual(dominant.series);
  }
}

describe('the levels of a horizon', () => {
  test.each(['SPY', 'TSLA', 'SPX', 'BRK.B'])('of the simulated %s are those of its expiries alone', (ticker) => {
    expectOwnLevels(simulated(ticker));
  });

  describeRecorded('of recorded chains', (dir) => {
    test.each(recordedNames(dir))('%s', (name) => expectOwnLevels(recordedChain(dir, name)));
  });

  const open = { openInterest: 5 };
  const both = (expiry: string) => quoted({ strikes: range(95, 105), expiry, rest: open });
  const calls = (expiry: string) => both(expiry).filter(({ callPut }) => callPut === 1);
  const idle = (expiry: string) => quoted({ strikes: range(95, 105), expiry });
  test.each([
    ['all settle within 35 days', [both(EXPIRY)], null, 'all'],
    ['one settles in the session', [both(TODAY), both(LATER)], 'own', 'session'],
    ['none settles in the session', [both(EXPIRY), both(LATER)], null, 'own'],
    ['none settles within 35 days', [both(LATER)], null, null],
    ['only calls settle within 35 days', [calls(EXPIRY), both(LATER)], null, null],
    ['calls settle in the session, and puts later', [calls(TODAY), both(EXPIRY), both(LATER)], null, 'own'],
    ['no contract of the session is open', [idle(TODAY), both(EXPIRY), both(LATER)], null, 'own'],
  ] as const)('%s', (_what, rows, session, month) => {
    const chain = chainOf(rows.flat());
    const prepared = preparedChain(chain);
    const found = levelsOf(chain);
    expect([found.session === null, found['35d'] === null]).toEqual([session === null, month === null]);
    if (month === 'all') expect(found['35d']!.prepared).toBe(prepared);
    if (month === 'session') expect(found['35d']).toBe(found.session!);
  });

  test('a view of a horizon shares the columns of its chain, and all is the chain itself', () => {
    const prepared = preparedChain(simulated('SPY'));
    const month = withinHorizon(prepared, '35d')!;
    expect(withinHorizon(prepared, 'all')).toBe(prepared);
    expect([month.gamma.buffer === prepared.gamma.buffer, month.count < prepared.count]).toEqual([true, true]);
    expect(month.pairs.contracts.at(-1)).toBe(month.count);
  });

  test('the expiries are options of an analysis, which names the session in its errors', () => {
    const chain = chainOf(both(LATER));
    expect(HORIZONS.map((each) => EXPIRIES_OF[each].kind)).toEqual(['session', 'next', 'all']);
    const refused = () => preparedChain(chain, { expiries: EXPIRIES_OF.session });
    expect(refused).toThrow('No contract of ACME settles in the session after the snapshot of ACME');
    expect(refused).toThrow('which ends at 2026-01-05 16:00 New York');
    expect(() => runToCompletion(prepareChain(chain, preparedChain(chain).options))).not.toThrow();
  });
});

test.each([
  ['during a session', '2026-01-05T20:00:00Z', 1, '2026-01-05T21:00:00.000Z'],
  ['at the close', '2026-01-05T21:00:00Z', 1, '2026-01-06T21:00:00.000Z'],
  ['before the open', '2026-01-05T12:00:00Z', 1, '2026-01-05T21:00:00.000Z'],
  ['on a Saturday', '2026-01-10T12:00:00Z', 1, '2026-01-12T21:00:00.000Z'],
  ['on the eve of a holiday, which has no session', '2026-07-02T21:00:00Z', 1, '2026-07-06T20:00:00.000Z'],
  ['of a half day', '2026-11-27T15:00:00Z', 1, '2026-11-27T18:00:00.000Z'],
  ['the fifth, over a weekend', '2026-01-08T20:00:00Z', 5, '2026-01-14T21:00:00.000Z'],
])('the end of a session: %s', (_what, from, count, end) => {
  expect(new Date(sessionEnd(Date.parse(from), count)).toISOString()).toBe(end);
});

import { describe, expect, test } from 'bun:test';
import type { Static } from '@sinclair/typebox';
import fc from 'fast-check';
import type { Chain } from '../../../src/market/chain.ts';
import { getGexProfile } from '../../../src/operations/gex/gex-profile.ts';
import { getHedgingProfile } from '../../../src/operations/gex/hedging-profile.ts';
import { type Hedging, movesWithin, profileReadout, sharesAt } from '../../../web/chart/hedging-moves.ts';
import type { ProfileAnswer } from '../../../web/data/page-answers.ts';
import { recordedChain, recordedNames } from '../../analytics/recorded.ts';
import { chainOf, LATER, quoted, range } from '../../analytics/small-chains.ts';
import { callExtended, smallMarket } from '../../operations/small-market.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';

const CHAIN = chainOf([
  ...quoted({ strikes: range(90, 110), rest: { openInterest: 400 } }).map((row) =>
    row.callPut === 1 ? row : { ...row, openInterest: 100 },
  ),
  ...quoted({ strikes: range(80, 120, 4), expiry: LATER, rest: { openInterest: 30 } }),
]);

/** What the page has of a chain: the profile, and the shares over the moves of its range. */
function pageOf(chain: Chain, zoom = 9) {
  const { context } = smallMarket({ chains: [chain] }, chain.asOf);
  const ask = (moves: readonly number[]) =>
    callExtended(getHedgingProfile, { ticker: chain.underlying, moves }, context) as Static<
      typeof getHedgingProfile.full
    >;
  return {
    profile: callExtended(getGexProfile, { ticker: chain.underlying }, context) as unknown as ProfileAnswer,
    hedging: ask(movesWithin({ zoom, shift: 0 })) as unknown as Hedging,
    ask,
  };
}

describe('the moves of a request', () => {
  test.each([
    [{ zoom: 9, shift: 0 }, 0.5, [-9, 9]],
    [{ zoom: 27.5, shift: 0 }, 2, [-28, 28]],
    [{ zoom: 0.5, shift: 0 }, 0.05, [-0.5, 0.5]],
    [{ zoom: 9, shift: 400 }, Number.NaN, []],
  ] as const)('%p has steps of %p %%', (of, step, ends) => {
    const moves = movesWithin(of);
    expect([moves[0], moves.at(-1)].filter((each) => each !== undefined)).toEqual([...ends]);
    if (moves.length > 0) expect(moves[1]! - moves[0]!).toBeCloseTo(step, 9);
  });

  test('they cover the range, ascend, and are as many as one request may have', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.5, max: 60, noNaN: true }),
        fc.double({ min: -60, max: 60, noNaN: true }),
        (zoom, shift) => {
          const moves = movesWithin({ zoom, shift });
          if (moves.length === 0) return;
          expect(moves.length).toBeWithin(2, 42);
          expect(moves).toEqual([...new Set(moves)].toSorted((a, b) => a - b));
          for (const each of moves) expect(Math.abs(each)).toBeLessThanOrEqual(50);
          expect(moves[0]!).toBeLessThanOrEqual(Math.max(-50, shift - zoom) + 1e-9);
          expect(moves.at(-1)!).toBeGreaterThanOrEqual(Math.min(50, shift + zoom) - 1e-9);
        },
      ),
    );
  });
});

describe('the read-out of a move', () => {
  const { profile, hedging } = pageOf(CHAIN);

  test('it says the trade with the direction of spot', () => {
    expect(profileReadout(profile, 100)).toMatch(
      /^spot 100\.00: on \+1\s% dealers sell [\d.]+K? sh, on −1\s% they buy [\d.]+K? sh$/,
    );
    expect(profileReadout(profile, 98, undefined, hedging)).toMatch(
      /^move to 98\.00 \(−2\.0 %\): dealers buy [\d.]+K? sh in all; there (buy|sell) [\d.]+K? sh per further −1\s%$/,
    );
    expect(profileReadout(profile, 98)).toMatch(
      /^at 98\.00 \(−2\.0 %\): on a further −1\s% dealers (buy|sell) .* net /,
    );
    expect(profileReadout(profile, 500)).not.toMatch(/buy|sell/);
  });

  test('a price between two moves has the shares between theirs, and spot has none', () => {
    const at = (price: number) => sharesAt(hedging, price)!;
    expect(at(100)).toBe(0);
    expect(at(98.25)).toBeCloseTo((at(98) + at(98.5)) / 2, 6);
    expect(sharesAt(hedging, 120)).toBeNull();
    expect(sharesAt(undefined, 98)).toBeNull();
  });
});

describeRecorded('on recorded chains', (dir) => {
  test.each(recordedNames(dir))(
    '%s: the sign of the read-out is that of the operation at -5, -2, +2, +5 %%',
    (name) => {
      const { profile, hedging, ask } = pageOf(recordedChain(dir, name));
      for (const { spot, shares } of ask([-5, -2, 2, 5]).rows) {
        const [, direction, said] = /\(([−+])[\d.]+ %\): dealers (buy|sell|trade nothing)/.exec(
          profileReadout(profile, spot, undefined, hedging),
        )!;
        expect(direction).toBe(spot < profile.spot_price ? '−' : '+');
        expect(said).toBe(shares > 0 ? 'buy' : shares < 0 ? 'sell' : 'trade nothing');
        expect(sharesAt(hedging, spot)).toBeCloseTo(shares, -1);
      }
    },
  );
});

import { describe, expect, test } from 'bun:test';
import type { Print } from '../../../src/market/prints.ts';
import { evaluateMarketHamiltonian } from '../../../src/operations/gex/market-hamiltonian.ts';
import { runStrategicOmniRadar } from '../../../src/operations/surface/omni-radar.ts';
import { chainOf, EXPIRY, LATER, print, quoted, range } from '../../analytics/small-chains.ts';
import { performTool, smallMarket } from '../small-market.ts';

const CHAIN = chainOf(
  [EXPIRY, LATER].flatMap((expiry) => quoted({ strikes: range(90, 110), expiry, rest: { openInterest: 1e-9 } })),
);
const SETTLED = '2026-01-02';

function notesOf(prints: readonly Partial<Print>[], args: object = {}): readonly string[] {
  const holdings = { chains: [CHAIN], prints: prints.map((each, i) => print({ id: `p${i}`, ...each })) };
  const { context } = smallMarket(holdings, CHAIN.asOf);
  const { provenance } = performTool(runStrategicOmniRadar, { ticker: 'ACME', ...args }, context);
  return provenance!.notes.filter((each) => each.includes('whale_fiat_kinetic'));
}

describe('notes on whale_fiat_kinetic', () => {
  const [SOLD, BOUGHT] = [{ side: 'bid' as const }, { side: 'ask' as const }];
  test.each<[string, Partial<Print>[], string[]]>([
    ['none, if all prints count and were bought', [BOUGHT, { ...BOUGHT, callPut: -1, size: 300 }], []],
    ['none, if the unknown sides could decide the sign', [SOLD, { size: 500 }], []],
    [
      'prints that it leaves out',
      [BOUGHT, { multiLeg: true }, { multiLeg: true }, { delta: 0.95 }, { expiry: SETTLED }],
      [
        'whale_fiat_kinetic leaves out 4 of 5 large prints of the day: 2 of several legs, 1 with |delta| above 0.9, 1 in settled expiries.',
      ],
    ],
    [
      'no print is left',
      [{ multiLeg: true }, { expiry: SETTLED }],
      [
        'whale_fiat_kinetic is 0, because it leaves out 2 of 2 large prints of the day: 1 of several legs, 1 in settled expiries.',
      ],
    ],
    [
      'no print of the day',
      [{ at: CHAIN.asOf - 86_400_000 }],
      ['whale_fiat_kinetic is 0: the day has no large print.'],
    ],
    [
      'sold calls',
      [SOLD],
      [
        'whale_fiat_kinetic counts all prints as bought. With the sides of the prints, it would be -2.08 million dollars.',
      ],
    ],
    [
      'sold puts',
      [{ ...SOLD, callPut: -1 }, { size: 100 }],
      [
        'whale_fiat_kinetic counts all prints as bought. With the sides of the prints, it would be 1.92 million dollars.',
      ],
    ],
    [
      'no prints at all',
      [],
      ['The ticker has no prints, so whale_fiat_kinetic is from daily volumes, which all count as bought.'],
    ],
  ])('%s', (_what, prints, expected) => {
    expect(notesOf(prints)).toEqual(expected);
  });

  test('of one expiry, the prints of other expiries are not missing', () => {
    expect(notesOf([BOUGHT, { expiry: LATER }, { expiry: SETTLED }], { expiry: EXPIRY })).toEqual([]);
  });

  test('of one expiry without prints, the note says that it is about this expiry alone', () => {
    expect(notesOf([{ expiry: LATER }], { expiry: EXPIRY })).toEqual([
      `whale_fiat_kinetic is 0: the day has no large print in ${EXPIRY}.`,
    ]);
    expect(notesOf([{ multiLeg: true }, { expiry: LATER }], { expiry: EXPIRY })).toEqual([
      `whale_fiat_kinetic is 0, because it leaves out 1 of 1 large prints of the day in ${EXPIRY}: 1 of several legs.`,
    ]);
  });

  test.each([
    ['prints', [print()], /counts all prints as bought, and leaves out/],
    ['no prints', [], /from daily volumes/],
  ])('the Hamiltonian, with %s', (_what, prints, expected) => {
    const { context } = smallMarket({ chains: [CHAIN], prints });
    const args = { ticker: 'ACME', whale_fiat_kinetic: 1, gex_potential_friction: 1, iv_crush_factor: 1 };
    const { echoes } = performTool(evaluateMarketHamiltonian, args, context);
    expect((echoes.notes as string[]).at(-1)).toMatch(expected);
  });
});

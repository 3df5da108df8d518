import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { getLiveGexNodes } from '../../../src/operations/gex/gex-nodes.ts';
import { automaticRange } from '../../../web/state/price-range.ts';
import { recordedChain, recordedNames } from '../../analytics/recorded.ts';
import { callExtended, smallMarket } from '../../operations/small-market.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';

const levels = (flip: number | null, putWall: number, callWall: number, spot = 100) => ({
  spot_price: spot,
  gex_flip: flip ?? 0,
  flip_resolved: flip !== null,
  put_wall: putWall,
  call_wall: callWall,
});

describe('the automatic range', () => {
  test.each([
    ['levels near spot leave it at 9 %', levels(99, 97, 103), { zoom: 9, shift: 0 }],
    ['a call wall at +11.4 % lengthens its upper half', levels(99, 97, 111.4), { zoom: 10.75, shift: 1.75 }],
    ['a put wall at -24 % lengthens its lower half', levels(99, 76, 103), { zoom: 17, shift: -8 }],
    ['a wall at +36 % is beyond it', levels(99, 97, 136), { zoom: 9, shift: 0 }],
    ['a flip that is not resolved has no place', levels(null, 97, 103), { zoom: 9, shift: 0 }],
  ])('%s', (_, from, range) => {
    expect(automaticRange(from)).toEqual(range);
  });

  test('it has every level within 25 % of spot, and at least 9 % on each side', () => {
    const percent = fc.double({ min: -90, max: 500, noNaN: true });
    fc.assert(
      fc.property(fc.double({ min: 0.1, max: 2e5, noNaN: true }), percent, percent, percent, (spot, ...away) => {
        const at = away.map((each) => spot * (1 + each / 100));
        const { zoom, shift } = automaticRange(levels(at[0]!, at[1]!, at[2]!, spot));
        for (const each of [...away.filter((one) => Math.abs(one) <= 25 - 1e-9), -9, 9])
          expect(each).toBeWithin(shift - zoom - 1e-9, shift + zoom + 1e-9);
        expect(zoom).toBeLessThanOrEqual(27.5);
      }),
    );
  });
});

describeRecorded('on recorded chains', (dir) => {
  test.each(recordedNames(dir))('%s: spot, flip and walls within 25 %% are on the axis', (name) => {
    const chain = recordedChain(dir, name);
    const found = callExtended(
      getLiveGexNodes,
      { ticker: chain.underlying },
      smallMarket({ chains: [chain] }, chain.asOf).context,
    );
    const body = found as Parameters<typeof automaticRange>[0];
    const { zoom, shift } = automaticRange(body);
    for (const level of [body.call_wall, body.put_wall, ...(body.flip_resolved ? [body.gex_flip] : [])]) {
      const away = 100 * (level / body.spot_price - 1);
      if (Math.abs(away) <= 25) expect(away).toBeWithin(shift - zoom, shift + zoom);
    }
  });
});

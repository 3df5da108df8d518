import { expect, test } from 'bun:test';
import { getVolatilitySurface } from '../../../src/operations/surface/surface-report.ts';
import { fittedSmile, smileReadout } from '../../../web/chart/smile.tsx';
import type { Surface } from '../../../web/data/page-answers.ts';
import { callExtended } from '../../operations/small-market.ts';
import { context } from '../quoted-market.ts';

const surface = callExtended(getVolatilitySurface, { ticker: 'ACME', detail: 'smiles' }, context) as unknown as Surface;
const smile = fittedSmile(surface, 0);

test.each([
  [0, '85.62 (−14.5 % from the forward)', 'put'],
  [30, '100.12 (0.0 % from the forward)', 'call'],
  [60, '117.08 (+16.9 % from the forward)', 'call'],
])('the figures at point %d of the smile are those of the answer', (i, strike, side) => {
  const { smiles } = surface;
  const [iv, delta, below] = [smiles!.iv, smiles!.delta, smiles!.probability_below].map((column) => column[0]![i]!);
  expect(smileReadout(smile, i).split(' · ')).toEqual([
    strike,
    `volatility ${(100 * iv!).toFixed(2)} %`,
    `forward delta of the ${side} ${String(Number(delta!.toPrecision(3))).replace('-', '−')}`,
    `probability of ending below ${(100 * below!).toFixed(1)} %`,
  ]);
});

test('the change since the earlier moment is that at the same strike, where both smiles have it', () => {
  const before = { ...smile, strike: smile.strike.map((at) => at * 1.02), iv: smile.iv.map((iv) => iv - 0.02) };
  expect(smileReadout(smile, 0, before)).not.toContain('was');
  const at = smile.strike.findIndex((each) => each > before.strike[0]!);
  const change = /at A ([\d.]+) %, change \+?(−?[\d.]+)/.exec(smileReadout(smile, at, before))!;
  expect(100 * smile.iv[at]! - Number(change[1])).toBeCloseTo(Number(change[2]), 1);
});

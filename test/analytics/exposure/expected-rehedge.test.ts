import { expect, test } from 'bun:test';
import { expectedAbsoluteChange } from '../../../src/analytics/exposure/expected-rehedge.ts';
import { normalCdf } from '../plain.ts';
import { range } from '../small-chains.ts';

const DAY = 1 / 365.25;

/** The expectation by the trapezoidal rule with many steps. */
function plainExpectation(moneyness: number, iv: number, tte: number, delta: number, factor: number): number {
  const [width, rest] = [iv * Math.sqrt(Math.min(tte, DAY)), iv * Math.sqrt(Math.max(tte - DAY, 0))];
  const step = 5e-4;
  return range(-16_000, 16_000).reduce((sum, i) => {
    const z = i * step;
    const x = moneyness - width ** 2 / 2 + width * z;
    const later = rest > 0 ? normalCdf(x / rest + rest / 2) : Number(x > 0);
    return sum + (step * Math.exp((-z * z) / 2) * Math.abs(factor * later - delta)) / Math.sqrt(2 * Math.PI);
  }, 0);
}

test.each([
  ['settles in 15 minutes', 15 / 1440],
  ['settles in a day', 1],
  ['a second more than a day', 1 + 1 / 86_400],
  ['an hour more than a day', 1 + 1 / 24],
  ['a week', 7],
  ['two years', 730],
])('equals a fine integral, for calls and puts: %s', (_what, days) => {
  const [iv, tte, factor] = [0.3, days * DAY, 0.99];
  const s = iv * Math.sqrt(tte);
  for (const deviations of [-3, -0.5, 0.01, 1, 2.5]) {
    const moneyness = deviations * s;
    const [call, put] = [normalCdf(deviations + s / 2), -normalCdf(-deviations - s / 2)].map((each) => each * 0.985);
    const contract = { moneyness, iv, tte, laterFactor: factor };
    const found = expectedAbsoluteChange({ ...contract, callPut: 1, delta: call! });
    const expected = plainExpectation(moneyness, iv, tte, call!, factor);
    expect(Math.abs(found / expected - 1), `${deviations} deviations`).toBeLessThan(2e-4);
    // Put and call differ by the delta of a forward, which itself changes from 0.985 to 0.99.
    const ofPut = expectedAbsoluteChange({ ...contract, callPut: -1, delta: put! });
    expect(Math.abs(ofPut - plainExpectation(moneyness, iv, tte, put! + factor, factor))).toBeLessThan(2e-4 * ofPut);
  }
});

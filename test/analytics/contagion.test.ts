import { expect, test } from 'bun:test';
import { evaluateContagion } from '../../src/analytics/contagion.ts';

const SATURATED = {
  ...{ proxy: 'SMH', flowUsd: 5e6, iv: 0.6, ivCeiling: 0.5, minFlowUsd: 1e6, premiumUsd: undefined },
  correlation: null,
};

test.each([
  ['saturated and large, correlation unknown', {}, 'SMH'],
  ['volatility at the ceiling', { iv: 0.5 }, 'SMH'],
  ['volatility below the ceiling', { iv: 0.4999 }, null],
  ['flow at the minimum amount', { flowUsd: 1e6 }, 'SMH'],
  ['flow below the minimum amount', { flowUsd: 999_999 }, null],
  ['flow sold counts like flow bought', { flowUsd: -1e6 }, 'SMH'],
  ['flow at 1 % of the premium', { premiumUsd: 5e8 }, 'SMH'],
  ['flow below 1 % of the premium', { premiumUsd: 5.01e8 }, null],
  ['1 % of a small premium does not lower the minimum amount', { premiumUsd: 1e6, flowUsd: 20_000 }, null],
  ['a premium known to be 0', { premiumUsd: 0 }, 'SMH'],
  ['correlation of 0.5', { correlation: 0.5 }, 'SMH'],
  ['correlation below 0.5', { correlation: 0.499 }, null],
  ['negative correlation', { correlation: -0.9 }, null],
  ['no proxy', { proxy: undefined }, null],
] as const)('%s', (_what, overrides, etf) => {
  expect(evaluateContagion({ ...SATURATED, ...overrides }).etf).toBe(etf);
});

test('the detail states the reason', () => {
  expect(evaluateContagion({ ...SATURATED, iv: 0.1, flowUsd: 1, premiumUsd: 3e8, correlation: 0.2 })).toEqual({
    ...{ etf: null, saturated: false, flowThresholdUsd: 3e6, largeFlow: false, correlation: 0.2 },
  });
});

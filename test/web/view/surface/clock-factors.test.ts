import { expect, test } from 'bun:test';
import { clockFactors } from '../../../../web/view/surface/surface-view.tsx';

test('volatilities of trading time become calendar volatilities with the same variance, to each settlement and between two', () => {
  const [tte, years] = [
    [0.01, 0.05],
    [0.004, 0.06],
  ];
  const { whole, between } = clockFactors(tte, years, false);
  const trading = 0.4;
  for (const i of [0, 1]) expect((trading * whole[i]!) ** 2 * tte[i]!).toBeCloseTo(trading ** 2 * years[i]!, 15);
  expect((trading * between[1]!) ** 2 * (0.05 - 0.01)).toBeCloseTo(trading ** 2 * (0.06 - 0.004), 15);
  expect(clockFactors(tte, years, true)).toEqual({ whole: [1, 1], between: [1, 1] });
});

test('two series that settle together have no time between them, and keep the volatility', () => {
  expect(clockFactors([0.02, 0.02], [0.03, 0.03], false).between[1]).toBe(1);
});

import { describe, expect, test } from 'bun:test';
import { runToCompletion } from '../../../src/core/steps.ts';
import { addDays } from '../../../src/market/calendar.ts';
import { runStrategicOmniRadar } from '../../../src/operations/surface/omni-radar.ts';
import { whipsawIndexOf } from '../../../src/operations/surface/radar-whipsaw.ts';
import { AS_OF, chainOf, EXPIRY, LATER, range, TODAY } from '../../analytics/small-chains.ts';
import { performTool, smallMarket } from '../small-market.ts';
import { CHAIN, type Scan, scan, series } from './scanned-chains.ts';

describe('whipsaw', () => {
  // A swing of 1 % a day, up to the day of the snapshot.
  const closes = range(0, 20).map((i) => ({
    ...{ ticker: 'ACME', date: addDays(TODAY, i - 20), close: i % 2 === 0 ? 100 : 101, volume: null },
    simulated: false,
  }));

  test('with 21 closes all four components are present, and the index is their mean', () => {
    const { whipsaw_components, whipsaw_risk_index, realised_volatility } = scan(CHAIN, {}, { closes });
    expect(realised_volatility).toBeCloseTo(Math.log(1.01) * Math.sqrt(252), 9);
    const values = Object.values(whipsaw_components) as number[];
    expect(values).toHaveLength(4);
    for (const value of values) expect(value).toBeWithin(0, 100.000001);
    expect(whipsaw_risk_index).toBeCloseTo(values.reduce((sum, each) => sum + each, 0) / 4, 9);
  });

  test('is the same for every expiry and target_dte, and for a screen of tickers', () => {
    // The first expiry has another volatility than the one nearest 30 days.
    const chain = chainOf([
      ...series(EXPIRY, 2).map((row) => ({ ...row, bid: row.bid * 1.4, ask: row.ask * 1.4 })),
      ...series(LATER, 1),
    ]);
    const whipsaw = (args: object) => {
      const { whipsaw_risk_index, whipsaw_components, whipsaw_inputs, implied_volatility, state_density } = scan(
        chain,
        args,
        { closes },
      );
      return {
        atmIv: state_density.atm_iv!,
        whipsaw_risk_index,
        whipsaw_components,
        whipsaw_inputs,
        implied_volatility,
      };
    };
    const { atmIv, ...expected } = whipsaw({});
    expect(expected.implied_volatility).toBe(atmIv);
    for (const args of [{ expiry: EXPIRY }, { expiry: LATER }, { target_dte: 1 }]) {
      const { atmIv: ofScan, ...found } = whipsaw(args);
      expect(found).toEqual(expected);
      expect(Math.abs(ofScan - atmIv) > 0.02).toBe(!('expiry' in args) || args.expiry === EXPIRY);
    }
    const { context } = smallMarket({ chains: [chain], closes });
    const index = runToCompletion(whipsawIndexOf('ACME', context));
    expect(index).toBe(expected.whipsaw_risk_index);
  });

  test('over MCP the provenance has the realised and the implied volatility, whose ratio gives the score', () => {
    const { context } = smallMarket({ chains: [CHAIN], closes });
    const { body, echoes } = performTool(runStrategicOmniRadar, { ticker: 'ACME', target_dte: 11 }, context);
    const { realised_volatility, implied_volatility } = echoes as Record<string, number>;
    expect(realised_volatility).toBeCloseTo(Math.log(1.01) * Math.sqrt(252), 9);
    expect(implied_volatility).toBeCloseTo(0.3, 3);
    const { realised_over_implied } = (body as unknown as Scan).whipsaw_components;
    expect(realised_over_implied).toBeCloseTo(100 * (realised_volatility! / implied_volatility! - 0.5), 9);
    expect(body).not.toHaveProperty('realised_volatility');
  });

  test('ignores closes after the snapshot', () => {
    const later = closes.map((each) => ({ ...each, date: addDays(each.date, 30) }));
    expect(scan(CHAIN, {}, { closes: later }).realised_volatility).toBeNull();
  });

  test('during a trading day uses spot instead of that day’s later close', () => {
    const message = closes.map((each) => (each.date === TODAY ? { ...each, close: 150 } : each));
    const { realised_volatility } = scan(CHAIN, {}, { closes });
    expect(scan(CHAIN, {}, { closes: message }).realised_volatility).toBe(realised_volatility);
    const late = chainOf([...series(EXPIRY, 2), ...series(LATER, 1)], { asOf: AS_OF + 3_600_000 });
    expect(scan(late, {}, { closes: message }).realised_volatility).toBeGreaterThan(1);
  });

  test('with fewer closes the realised component is null and left out', () => {
    const { whipsaw_components, whipsaw_risk_index, realised_volatility } = scan();
    expect([realised_volatility, whipsaw_components.realised_over_implied]).toEqual([null, null]);
    expect(whipsaw_risk_index).toBeNumber();
  });

  test('gamma that expires within a day', () => {
    expect(scan().whipsaw_components.expiring_gamma).toBe(0);
    expect(scan(chainOf([...series(TODAY, 5), ...series(EXPIRY, 1)])).whipsaw_components.expiring_gamma).toBeWithin(
      50,
      100,
    );
    expect(scan(chainOf(series(TODAY, 5))).whipsaw_components.expiring_gamma).toBeCloseTo(100, 9);
  });
});

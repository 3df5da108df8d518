import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runToCompletion } from '../../../src/core/steps.ts';
import { readMarketFile } from '../../../src/feeds/files/read-market-file.ts';
import type { Chain } from '../../../src/market/chain.ts';
import type { Delivery } from '../../../src/market/feed.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { asText } from '../files/reading.ts';
import { type ShapedChain, VENDOR_SHAPES } from './vendor-shapes.ts';

function read(text: string, origin: string): Delivery[] {
  return runToCompletion(readMarketFile(new TextEncoder().encode(text), { origin }));
}

function onlyChain(deliveries: Delivery[]): Chain {
  expect(deliveries).toEqual([expect.objectContaining({ kind: 'chain' })]);
  const [delivery] = deliveries;
  return delivery?.kind === 'chain' ? delivery.chain : (undefined as never);
}

/** Reads the rows of a chain file of Zomma as a chain that a vendor's file could have. */
function shapedChain(path: string): ShapedChain {
  const [header = '', ...lines] = readFileSync(path, 'utf8').trim().split('\n');
  const names = header.split(',');
  const rows = lines.map((line) => Object.fromEntries(line.split(',').map((cell, i) => [names[i]!, cell])));
  const options = rows.map((row) => ({
    ...{ symbol: row.symbol!, root: row.symbol!.slice(0, -15), ticker: row.underlying!, expiry: row.expiry! },
    ...{ side: row.put_call as 'C' | 'P', strike: row.strike!, bid: row.bid!, ask: row.ask!, last: row.last! },
    ...{ volume: row.volume!, oi: row.open_interest!, iv: row.iv!, delta: row.delta!, gamma: row.gamma! },
  }));
  return { ticker: rows[0]!.underlying!, date: rows[0]!.as_of!.slice(0, 10), spot: rows[0]!.spot!, options };
}

describeRecorded('the chain of a vendor file is that of the plain file', (dir) => {
  const path = join(dir, 'chains/XLF-2026-08-21.csv');
  const plain = readFileSync(path, 'utf8');
  const shaped = shapedChain(path);

  test.each(VENDOR_SHAPES.map((shape) => [shape.vendor, shape] as const))(
    '%s',
    (_vendor, { file, lacks = [], time, write }) => {
      const origin = (file ?? 'chain.csv').replace('DATE', shaped.date);
      const chain = onlyChain(read(write(shaped), origin));
      const at = (text: string) => text.replaceAll('T16:00:00-04:00', `T${time ?? '16:00'}:00-04:00`);
      const expected = onlyChain(read(at(plain), origin));
      const { refused: _, source: __, ...columns } = expected;
      expect(chain.refused).toEqual({});
      for (const [name, column] of Object.entries(columns)) {
        const given = chain[name as keyof Chain];
        if (lacks.includes(name as never)) {
          if (name === 'spot') expect(Math.abs(Number(given) / expected.spot - 1)).toBeLessThan(2e-3);
          else expect(new Set(given as Float64Array)).toEqual(new Set([Number.NaN]));
        } else if (name === 'iv') expectClose(given as Float64Array, column as Float64Array);
        else expect([name, asText(given)]).toEqual([name, asText(column)]);
      }
    },
  );
});

/** Volatilities in percent may differ in the last digit. */
function expectClose(given: Float64Array, expected: Float64Array): void {
  expect(given.length).toBe(expected.length);
  const differing = given.filter(
    (value, i) => !(Math.abs(value - expected[i]!) <= 1e-15 * Math.abs(value)) && !Number.isNaN(expected[i]),
  );
  expect([...differing]).toEqual([]);
}

describeRecorded('files of vendors give the figures that were counted by hand', (dir) => {
  const chainsOf = (name: string) =>
    runToCompletion(readMarketFile(readFileSync(join(dir, 'vendors', name)), { origin: name })).map((delivery) => {
      if (delivery.kind !== 'chain') return delivery;
      const { underlying, asOf, spot, count, openInterest, refused } = delivery.chain;
      const interest = openInterest.reduce((sum, each) => sum + (each || 0), 0);
      return [underlying, new Date(asOf).toISOString(), spot, count, interest, refused];
    });

  test.each<[string, (string | number | object)[][]]>([
    ['lambda_SPX_20190425.csv', [['SPX', '2019-04-25T20:00:00.000Z', 2919.04, 13_340, 15_096_089, {}]]],
    ['optopsy_A.csv', [['A', '2016-01-05T21:00:00.000Z', 40.55, 208, 117_161, {}]]],
    ['optopsy_test_cboe_20160104.csv', [['SPX', '2016-01-04T20:45:00.000Z', 2003.82, 2, 350, {}]]],
    ['polygon_snap_AAPL.json', [['AAPL', '2022-04-29T17:44:20.800Z', 159.9606, 1, 8_133, {}]]],
  ])('%s', (name, expected) => {
    expect<unknown>(chainsOf(name)).toEqual(expected);
  });

  test('a year of SPY has 252 days of 20 contracts', () => {
    const days = chainsOf('lambda_prod_options_1y.csv');
    expect(days).toHaveLength(252);
    expect(days[0]).toEqual(['SPY', '2021-01-04T21:00:00.000Z', 368.79, 20, expect.any(Number), {}]);
    expect(new Set(days.map((day) => (Array.isArray(day) ? day[3] : day)))).toEqual(new Set([20]));
  });

  test('a day of iVolatility has two tickers', () => {
    const found = chainsOf('ivol_aapl.csv').map((chain) => (Array.isArray(chain) ? chain.slice(0, 5) : chain));
    expect(found).toEqual(IVOLATILITY);
  });
});

const IVOLATILITY = [
  ['AAPL', '2014-08-07T20:00:00.000Z', 94.48, 1_822, 10_936_843],
  ['SPY', '2014-08-08T20:00:00.000Z', 94.48, 1_822, 10_936_843],
];

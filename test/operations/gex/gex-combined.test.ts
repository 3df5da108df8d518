import { describe, expect, test } from 'bun:test';
import { getGexCombined } from '../../../src/operations/gex/gex-combined.ts';
import { AS_OF, chainOf, print, quoted, range } from '../../analytics/small-chains.ts';
import { callRoute, performRoute, refusalOf, smallMarket } from '../small-market.ts';

const chain = (underlying: string, spot: number, asOf = AS_OF) =>
  chainOf(
    quoted({ root: underlying, spot, asOf, strikes: range(0.9, 1.1, 0.02).map((each) => each * spot) }).map(
      (row, i) => ({
        ...row,
        openInterest: 100 + 13 * (i % 7),
      }),
    ),
    { underlying, spot, asOf },
  );
const SPX = chain('SPX', 4_040);
const SPY = chain('SPY', 400, AS_OF - 12_000);

const ask = (ticker: string, args: object = {}, chains = [SPX, SPY]) =>
  callRoute(getGexCombined, { ticker, ...args }, smallMarket({ chains }).context);

describe('an index with its fund', () => {
  const both = ask('SPX');

  test('states the basis', () => {
    expect(both).toMatchObject({
      ...{ ticker: 'SPX', with: 'SPY', spot_price: 4_040, with_spot_price: 400, ratio: 10.1 },
      ...{ basis_pct: expect.closeTo(1, 9), apart_s: 12, as_of: '2026-01-05T20:00:00.000Z' },
    });
  });

  test('both parts add up to the whole', () => {
    const { net_gex_mil, ticker_gex_mil, with_gex_mil } = both as Record<string, number>;
    expect(ticker_gex_mil! + with_gex_mil!).toBeCloseTo(net_gex_mil!, 9);
    const i = (both.spot as number[]).findIndex((level) => Math.abs(level - 4_040) < 1e-6);
    expect((both.net_gex as number[])[i]! / 1e6).toBeCloseTo(net_gex_mil!, 6);
  });

  test('a request for the fund uses its index, in the fund’s prices', () => {
    const other = ask('SPY');
    expect(other).toMatchObject({ ticker: 'SPY', with: 'SPX', basis_pct: expect.closeTo(-1 / 1.01, 9) });
    expect((other.gex_flip as number) * 10.1).toBeCloseTo(both.gex_flip as number, 6);
    expect(other.net_gex_mil as number).toBeCloseTo(both.net_gex_mil as number, 6);
  });

  test('by flow, the notes have the share of open interest of each ticker', () => {
    const prints = [SPX, SPY].map(({ underlying: name, strike }) =>
      print({ id: name, underlying: name, root: name, side: 'ask', strike: strike[0]!, size: 1, at: AS_OF - 60_000 }),
    );
    const { context } = smallMarket({ chains: [SPX, SPY], prints });
    const { notes } = performRoute(getGexCombined, { ticker: 'SPX', sign: 'flow' }, context).provenance!;
    expect(notes).toEqual(
      ['SPX', 'SPY'].flatMap((name) => [
        expect.stringMatching(new RegExp(`^${name}: Dealers hold the opposite`)),
        expect.stringMatching(new RegExp(`^${name}: sign=flow: .* often wrong\\.$`)),
      ]),
    );
  });

  test('any two tickers can be combined, without a customary multiple', () => {
    expect(ask('SPX', { with: 'QQQ' }, [SPX, chain('QQQ', 500)])).toMatchObject({ with: 'QQQ', basis_pct: null });
  });
});

test.each<[string, () => unknown, object]>([
  [
    'no default partner',
    () => ask('ACME', {}, [chainOf(quoted({ strikes: [100], rest: { openInterest: 1 } }))]),
    { code: 'invalid_parameter', fields: ['/with'] },
  ],
  ['the ticker itself', () => ask('SPX', { with: 'spx' }), { code: 'invalid_parameter', fields: ['/with'] }],
  ['a partner without a stored chain', () => ask('SPX', {}, [SPX]), { code: 'invalid_parameter', fields: ['/with'] }],
  [
    'snapshots three days apart',
    () => ask('SPX', {}, [SPX, chain('SPY', 400, AS_OF - 3 * 86_400_000)]),
    { code: 'invalid_parameter', message: 'The snapshots of SPX and SPY are 3 days apart' },
  ],
])('rejects %s', (_what, work, message) => {
  expect(refusalOf(work)).toMatchObject(message);
});

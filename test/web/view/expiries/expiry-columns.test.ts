import { describe, expect, test } from 'bun:test';
import { joinRows, seriesKeys } from '../../../../web/data/joined-rows.ts';
import type { Expiries } from '../../../../web/data/page-answers.ts';
import { expiryColumns } from '../../../../web/view/expiries/expiry-columns.ts';

const MOMENT = '2026-11-23T15:00:00.000Z';

/** The figures that the tests leave out are unknown. */
const REST = ['gross_share_pct', 'expired_share_pct', 'atm_iv_bid', 'atm_iv_ask', 'atm_iv_trading', 'expected_move'];

const expiriesOf = (rows: readonly (readonly [expiry: string, net: number, iv: number | null])[]): Expiries => {
  const answer = {
    ...{ ticker: 'SPY', spot_price: 100, count: rows.length, sign_convention: '' },
    root: rows.map(() => 'SPY'),
    expiry: rows.map(([expiry]) => expiry),
    settlement: rows.map(() => 'PM'),
    net_gex: rows.map(([, net]) => net),
    atm_iv: rows.map(([, , iv]) => iv),
    smile_refused: rows.map(([, , iv]) => (iv === null ? 'one_sided' : null)),
  };
  return { ...Object.fromEntries(REST.map((name) => [name, rows.map(() => null)])), ...answer } as unknown as Expiries;
};
const now = expiriesOf([
  ['2026-11-27', 5e6, 0.2],
  ['2026-12-18', 1e6, null],
  ['2027-01-15', 2e6, 0.25],
]);
const before = expiriesOf([
  ['2026-11-20', 9e6, 0.3],
  ['2026-11-27', 2e6, 0.18],
  ['2026-12-18', 1e6, 0.2],
  ['2028-01-21', 4e6, 0.2],
]);

describe('the columns of the expiries', () => {
  const columns = expiryColumns(now, before, MOMENT);
  const rows = joinRows(seriesKeys(now), seriesKeys(before));
  const texts = (id: string) => rows.map((row) => columns.find((each) => each.id === id)!.text(row));

  test('a series of one moment only is new, expired or gone', () => {
    expect(texts('expiry')).toEqual(['Fri 27 Nov', 'Fri 18 Dec', 'Fri 15 Jan 2027', 'Fri 20 Nov', 'Fri 21 Jan 2028']);
    expect(texts('net_gex_change')).toEqual(['+3.00M', '0', 'new', 'expired', 'gone']);
  });

  test('an unknown volatility is a dash with its reason, not 0', () => {
    expect(texts('atm_iv')).toEqual(['20.0 %', '—', '25.0 %', '—', '—']);
    expect(texts('atm_iv_change')).toEqual(['+2.00 %', '—', 'new', 'expired', 'gone']);
    expect(texts('smile_refused')[1]).toBe('fewer than two usable quotes on one side of the forward');
  });

  test('without an earlier moment there are no changes', () => {
    expect(expiryColumns(now, undefined, MOMENT).some(({ id }) => id.endsWith('_change'))).toBe(false);
  });
});

import { describe, expect, test } from 'bun:test';
import { joinRows } from '../../../../web/data/joined-rows.ts';
import type { Expiries } from '../../../../web/data/page-answers.ts';
import { expiryColumns, seriesKeys } from '../../../../web/view/expiries/expiry-columns.ts';

const MOMENT = '2026-11-23T15:00:00.000Z';

const expiriesOf = (rows: readonly (readonly [expiry: string, net: number, iv: number | null])[]): Expiries => {
  const zeros = rows.map(() => 0);
  const nulls = rows.map(() => null);
  return {
    ticker: 'SPY',
    spot_price: 100,
    count: rows.length,
    root: rows.map(() => 'SPY'),
    expiry: rows.map(([expiry]) => expiry),
    settlement: rows.map(() => 'PM'),
    tte: rows.map(() => 0.1),
    net_gex: rows.map(([, net]) => net),
    gross_gex: zeros,
    sign_margin_pct: zeros,
    gross_share_pct: zeros,
    expired_share_pct: zeros,
    open_interest: zeros,
    volume: zeros,
    max_pain: nulls,
    forward: zeros,
    forward_method: rows.map(() => 'parity'),
    rate: zeros,
    atm_iv: rows.map(([, , iv]) => iv),
    atm_iv_bid: nulls,
    atm_iv_ask: nulls,
    atm_iv_trading: nulls,
    expected_move: nulls,
    skew_25d: nulls,
    smile_refused: rows.map(([, , iv]) => (iv === null ? 'one_sided' : null)),
    sign_convention: '',
  };
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

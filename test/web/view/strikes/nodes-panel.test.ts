import { expect, test } from 'bun:test';
import type { HedgingNodes } from '../../../../web/data/page-answers.ts';
import { nodeColumns, tradeText } from '../../../../web/view/strikes/nodes-panel.tsx';

test.each([
  [-732_569, 'sell 733K'],
  [628_373, 'buy 628K'],
  [0, '0'],
])('%p shares are told as %p', (shares, text) => {
  expect(tradeText(shares)).toBe(text);
});

test('the rows of a later page keep their rank, and unknown figures are dashes', () => {
  const shares = { Dealer_Share_Exposure: -732_569, Delta_Flux_j: 84_335 };
  const node = { strike: 670, put_call: 'C', expiry_date: '2026-12-18', ...shares };
  const component = { root: 'SPY', strike_shares: -1.17e6, iv: 0, iv_band: null, ends_in_the_money: null };
  const nodes = { top_nodes: [node], components: [component] } as unknown as HedgingNodes;
  const columns = nodeColumns(nodes, 50, '2026-11-20T21:00:00.000Z');
  const text = (id: string) => columns.find((each) => each.id === id)!.text(0);
  expect(['rank', 'strike', 'put_call', 'expiry_date'].map(text)).toEqual(['51', '670', 'call', 'Fri 18 Dec']);
  expect(['Dealer_Share_Exposure', 'Delta_Flux_j', 'strike_shares'].map(text)).toEqual([
    'sell 733K',
    'buy 84.3K',
    'sell 1.17M',
  ]);
  // The server gives 0 for a volatility that is unknown.
  expect(['iv', 'iv_band', 'ends_in_the_money'].map(text)).toEqual(['—', '—', '—']);
});

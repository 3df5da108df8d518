import { describe, expect, test } from 'bun:test';
import type { Levels } from '../../../web/data/page-answers.ts';
import { tickerFigures } from '../../../web/panel/ticker-figures.tsx';

const LEVELS = {
  ticker: 'SPY',
  spot_price: 600,
  call_wall: 620,
  put_wall: 580,
  max_pain: 600,
  gex_flip: 595,
  flip_resolved: true,
  expiry: '2026-12-18',
  regime: 'negative_gamma',
  regime_probability: 0.91,
  sign_margin_pct: 12,
  flip_zone: { low: 590, high: 601 },
  spot_in_flip_zone: false,
  net_gex_mil: -110,
  sign_convention: 'Dealers are long calls and short puts (assumed).',
  by_flow: { signed_share_pct: 0.46 },
  hedging: { shares_per_pct: -2_000, share_of_volume_pct: null },
} as unknown as Levels;
const FLOW =
  "Dealers hold the opposite of customers' net positions, computed from prints whose buyer or seller is known.";

const figureOf = (id: string, change: object = {}) =>
  tickerFigures({ ...LEVELS, ...change } as Levels).find((figure) => figure.id === id)!;

describe('the regime of a ticker', () => {
  test.each([
    ['by the convention', {}, 'negative gamma', 'negative'],
    ['by the convention, too near zero', { regime: 'undetermined' }, 'undetermined', ''],
    ['by prints that sign half a percent', { sign_convention: FLOW }, 'undetermined', ''],
    [
      'by prints that sign a third',
      { sign_convention: FLOW, by_flow: { signed_share_pct: 33 } },
      'negative gamma',
      'negative',
    ],
  ] as const)('%s', (_, change, meaning, tone) => {
    expect(figureOf('net_gex', change)).toMatchObject({ meaning, tone });
  });

  test.each([
    ['how little the prints sign', { sign_convention: FLOW }, 'prints sign 0.46 % of open interest · odds 91 %'],
    ['the odds', {}, 'dealers amplify moves · odds 91 %'],
    ['odds that are too low', { regime: 'undetermined', regime_probability: 0.62 }, 'odds 62 %, below 80'],
    ['a low margin', { regime: 'undetermined', sign_margin_pct: 1 }, 'too near zero · odds 91 %'],
    ['the zone', { regime: 'undetermined', spot_in_flip_zone: true }, 'spot in the zone of the flip · odds 91 %'],
  ])('says %s', (_, change, note) => {
    expect(figureOf('net_gex', change).note).toBe(note);
  });

  test('the flip has its zone, and none if it is not resolved', () => {
    expect(figureOf('gex_flip').note).toBe('zone 590.00–601.00');
    expect(figureOf('gex_flip', { flip_zone: null }).note).toBe('');
    expect(figureOf('gex_flip', { flip_resolved: false, flip_zone: null }).value).toBe('—');
  });
});

test.each([
  ['SPY', '2.00K sh'],
  ['SPX', '2.00K units'],
])('what dealers of %s trade is %s', (ticker, value) => {
  expect(figureOf('hedging', { ticker }).value).toBe(value);
});

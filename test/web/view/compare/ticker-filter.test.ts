import { describe, expect, test } from 'bun:test';
import type { DayFigures } from '../../../../web/state/watched-tickers.ts';
import { FILTER_HELP, tickerFilter } from '../../../../web/view/compare/ticker-filter.ts';

const figures = (changes: Partial<DayFigures>) =>
  ({
    ...{ spot: 100, change_pct: 1, gex_flip: 101, net_gex: 1e9, sign_margin_pct: 10, regime: 'positive_gamma' },
    ...{ iv_rank: 40, daily_move: 2 },
    ...changes,
  }) as DayFigures;

const UP = figures({ change_pct: 3, gex_flip: 98.5, iv_rank: 60, regime: 'negative_gamma' });
const DOWN = figures({ change_pct: -2, gex_flip: 108, iv_rank: 51, net_gex: -2e9, daily_move: 5 });
const ROWS = [
  { ticker: 'UP', theme: 'big names', figures: UP },
  { ticker: 'DOWN', theme: 'rot', figures: DOWN },
  {
    ticker: 'FLAT',
    theme: 'rot',
    figures: figures({ change_pct: null, gex_flip: null, iv_rank: null, daily_move: null }),
  },
  { ticker: 'DARK', theme: 'rot', figures: undefined },
];
const ALL = ['UP', 'DOWN', 'FLAT', 'DARK'];

describe('a filter', () => {
  test.each([
    ['', ALL, ''],
    ['  ', ALL, ''],
    ['regime:neg flip<2% iv>50', ['UP'], 'gamma negative, distance of the flip < 2 %, IV rank > 50'],
    ['flip < 2 %', ['UP'], 'distance of the flip < 2 %'],
    ['flip>=1.5', ['UP', 'DOWN'], 'distance of the flip >= 1.5 %'],
    ['chg<-1', ['DOWN'], 'change on the day < -1 %'],
    ['CHG>−1', ['UP'], 'change on the day > −1 %'],
    ['net<-1.5b', ['DOWN'], 'net GEX < -1.5b $'],
    ['move>=5%', ['DOWN'], 'expected move of a day >= 5 %'],
    ['iv<=51,rot', ['DOWN'], 'IV rank <= 51, “rot”'],
    ['regime:positive', ['DOWN', 'FLAT'], 'gamma positive'],
    ['big', ['UP'], '“big”'],
    ['do', ['DOWN'], '“do”'],
    ['margin>10', [], 'sign margin > 10 %'],
  ])('%p', (text, tickers, meaning) => {
    const filter = tickerFilter(text);
    expect(ROWS.filter(filter.matches).map(({ ticker }) => ticker)).toEqual(tickers);
    expect([filter.meaning, filter.refused]).toEqual([meaning, []]);
  });

  test.each(['foo>2', 'flip<', 'flip<2<3', 'iv>high', 'regime:up', 'regime:ne', '=3', 'constructor<1', 'flip<1.2.3'])(
    '%s is not understood, hides nothing and is said',
    (text) => {
      const filter = tickerFilter(`rot ${text}`);
      expect(filter.refused).toEqual([text]);
      expect(ROWS.filter(filter.matches)).toHaveLength(3);
    },
  );

  test('the help names every figure', () => {
    expect(
      FILTER_HELP.split(' with ')[0]!
        .split(', ')
        .map((name) => tickerFilter(`${name}<1`).refused),
    ).toEqual(Array.from({ length: 7 }, () => []));
  });
});

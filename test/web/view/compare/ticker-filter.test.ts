import { describe, expect, test } from 'bun:test';
import type { DayFigures } from '../../../../web/state/watched-tickers.ts';
import { FILTER_HELP, tickerFilter } from '../../../../web/view/compare/ticker-filter.ts';

const figures = (changes: Partial<DayFigures>): DayFigures => ({
  ...{ ticker: '', asOf: '2026-11-20T21:00:00Z', spot: 100, previousSpot: 99, change: 1, flip: 101, flipAway: 1 },
  ...{ callWall: 110, putWall: 90, netGex: 1e9, signMargin: 10, regime: 'positive', ivRank: 40, move: 2 },
  ...changes,
});

const ROWS = [
  { ticker: 'UP', theme: 'big names', figures: figures({ change: 3, flipAway: -1.5, ivRank: 60, regime: 'negative' }) },
  { ticker: 'DOWN', theme: 'rot', figures: figures({ change: -2, flipAway: 8, ivRank: 51, netGex: -2e9, move: 5 }) },
  { ticker: 'FLAT', theme: 'rot', figures: figures({ change: null, flipAway: null, ivRank: null, move: null }) },
  { ticker: 'DARK', theme: 'rot', figures: undefined },
];
const ALL = ['UP', 'DOWN', 'FLAT', 'DARK'];

describe('a filter', () => {
  test.each([
    ['', ALL, ''],
    ['  ', ALL, ''],
    ['regime:neg flip<2% iv>50', ['UP'], 'gamma negative, distance of the flip below 2 %, IV rank above 50'],
    ['flip < 2 %', ['UP'], 'distance of the flip below 2 %'],
    ['flip>=1.5', ['UP', 'DOWN'], 'distance of the flip at least 1.5 %'],
    ['chg<-1', ['DOWN'], 'change on the day below −1 %'],
    ['CHG>−1', ['UP'], 'change on the day above −1 %'],
    ['net<-1.5b', ['DOWN'], 'net GEX below -1.5b $'],
    ['move>=5%', ['DOWN'], 'expected move of a day at least 5 %'],
    ['iv<=51,rot', ['DOWN'], 'IV rank at most 51, “rot”'],
    ['regime:positive', ['DOWN', 'FLAT'], 'gamma positive'],
    ['big', ['UP'], '“big”'],
    ['do', ['DOWN'], '“do”'],
    ['margin>10', [], 'sign margin above 10 %'],
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

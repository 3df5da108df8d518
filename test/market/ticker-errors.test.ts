import { describe, expect, test } from 'bun:test';
import { refusalOf, smallMarket } from '../operations/small-market.ts';
import { chainOf } from '../store/samples.ts';

const marketOf = (...tickers: string[]) =>
  smallMarket({ chains: tickers.map((underlying) => chainOf({ underlying, simulated: false })) }).context.market;
const FUNDS = marketOf('SPY', 'QQQ', 'IWM', 'DIA', 'META', 'GDX', 'XLF');

describe('the error of a ticker without data names what the caller probably wants', () => {
  test.each([
    ['NDX', /^NDX is not in the universe/, /^QQQ, the fund on it, has data\. screen_tickers/],
    ['^spx', /^SPX is not in the universe/, /^SPY, the fund on it, has data\./],
    ['RUTW', /^RUT is not in the universe/, /^IWM, the fund on it, has data\./],
    ['DJX', /^DJX is not in the universe/, /^DIA, the fund on it, has data\./],
    ['SP500', /^SPX \("SP500" was read as SPX\) is not in the universe/, /^SPY, the fund on it, has data\./],
    ['Dow Jones', /^DJX \("Dow Jones" was read as DJX\) is not in the universe/, /^DIA, the fund on it, has data\./],
    ['gold ETF', /^GLD \("gold ETF" was read as GLD\) is in the universe/, /^No feed has delivered data of it\./],
    [
      'XLC',
      /^XLC is not in the universe/,
      /^It is tracked only as the sector ETF of GOOGL, META, .*: no feed has delivered data/,
    ],
    ['METTA', /^METTA is not in the universe and has no stored chain$/, /^Nearest with data: META/],
    ['TESLAA', /^TESLAA is not in the universe/, /^Nearest: TSLA \(no data\)\. Nearest with data: /],
    ['Wo liegen die Walls von META?', /^"Wo liegen die Walls von META\?" is not/, /^Give the symbol alone: META\./],
    ['SPY or QQQ today', /^"SPY or QQQ today" is not/, /^Give the symbol alone: SPY or QQQ\./],
    ['\u202emeta walls please\u0000', /^"meta walls please" is not/, /^(?:Nearest with data: .*|screen_tickers .*)$/],
  ])('%p', (spelling, message, hint) => {
    const refusal = refusalOf(() => FUNDS.chain(spelling));
    expect(refusal.message).toMatch(message);
    expect(refusal.hint).toMatch(hint);
  });

  test.each([
    ['SPY', 'SPX'],
    ['QQQ', 'NDX'],
    ['IWM', 'RUT'],
    ['DIA', 'DJX'],
  ])('the index of %s', (fund, index) => {
    expect(refusalOf(() => marketOf(index).chain(fund)).hint).toStartWith(
      `${index}, the index that it tracks, has data.`,
    );
    // Without data of the partner, the error names none.
    expect(refusalOf(() => marketOf('META').chain(fund)).hint).toStartWith('No feed has delivered data of it.');
    expect(refusalOf(() => marketOf('META', 'XLF').chain(index)).hint).toStartWith('screen_tickers lists');
  });
});

test('a misspelt ticker of the universe is named although it has no data', () => {
  const hint = (spelling: string) => refusalOf(() => marketOf('GDX').chain(spelling)).hint;
  expect(hint('METTA')).toStartWith('Nearest: META (no data). screen_tickers lists');
  expect(hint('GDXX')).toStartWith('Nearest with data: GDX. ');
});

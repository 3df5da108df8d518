import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { runToCompletion } from '../../../src/core/steps.ts';
import { readMarketFile } from '../../../src/feeds/files/read-market-file.ts';
import { parseMapping } from '../../../src/feeds/vendors/mapping-file.ts';
import { vendorMappings } from '../../../src/feeds/vendors/vendor-mappings.ts';
import type { Delivery } from '../../../src/market/feed.ts';

const OWN = `
vendor = "my table"
[columns]
underlying = "Sym"
expiry = ["Exp", "Expires"]
strike = "K"
put_call = "T"
as_of = "When"
open_interest = "Open"
bid = "b"
ask = "a"
`;
const ROWS = `Sym,Exp,K,T,When,Open,b,a
ABC,2026-09-18,100,CE,2026-08-21 15:00,10,2,2.1
ABC,2026-09-18,100,PE,2026-08-21 15:00,20,2,2.1
`;
const AT = Date.parse('2026-08-21T19:00:00Z');

function read(text: string, toml: string, origin = 'table.csv', isOfFolder = false): Delivery | undefined {
  const file = { origin, stated: { mapping: parseMapping(toml, 'm.toml'), isOfFolder } };
  const deliveries = runToCompletion(readMarketFile(Buffer.from(text), file));
  expect(deliveries.length).toBeLessThanOrEqual(1);
  return deliveries[0];
}

test('every mapping of a vendor can be read', () => {
  expect(vendorMappings().length).toBeGreaterThan(20);
});

describe('reads a table with a mapping', () => {
  test.each<[string, string, string, object]>([
    ['with a zone', ROWS, `${OWN}[forms]\nzone = "America/New_York"`, { asOf: AT, count: 2 }],
    [
      'with another name of a column',
      ROWS.replace('Exp,', 'Expires,'),
      `${OWN}[forms]\nzone = "America/New_York"`,
      { asOf: AT },
    ],
    [
      'with constants',
      ROWS.replaceAll(/^[^,]+,/gm, ','),
      `${OWN.replace('underlying = "Sym"\n', '')}[constants]\nunderlying = "XYZ"\n[forms]\nzone = "UTC"`,
      { underlying: 'XYZ', asOf: Date.parse('2026-08-21T15:00:00Z') },
    ],
    [
      'with strikes in thousandths',
      ROWS.replaceAll(',100,', ',100000,'),
      `${OWN}[forms]\nzone = "UTC"\nstrike = 0.001`,
      { strike: new Float64Array([100, 100]) },
    ],
    [
      'with a wide pair of prefixes',
      'S,E,K,D,c_bid,c_ask,c_oi,p_bid,p_ask,p_oi\nABC,2026-09-18,100,2026-08-21,2,2.1,10,2,2.1,20\n',
      '[columns]\nunderlying = "S"\nexpiry = "E"\nstrike = "K"\nas_of = "D"\n[wide]\ncall = "c_"\nput = "p_"',
      { openInterest: new Float64Array([10, 20]), asOf: Date.parse('2026-08-21T20:00:00Z') },
    ],
  ])('%s', (_what, text, toml, expected) => {
    expect(read(text, toml)).toMatchObject({ kind: 'chain', chain: expected });
  });

  test('with the ticker and the day in the path', () => {
    const toml = `path = '(?<underlying>[a-z]+)/(?<as_of>\\d{8})'\n${OWN.replaceAll(/(?:underlying|as_of) = .*\n/g, '')}`;
    const delivery = read(ROWS.replaceAll(/^[^,]+,/gm, ','), toml, 'abc/20260821.csv');
    expect(delivery).toMatchObject({ chain: { underlying: 'ABC', asOf: Date.parse('2026-08-21T20:00:00Z') } });
  });

  test('of LEAN, with the ticker and the day in the path, as the docs map it', () => {
    const page = readFileSync(new URL('../../../docs/vendors.md', import.meta.url), 'utf8');
    const toml = /```toml\n(vendor = "LEAN[^`]*)```/.exec(page)![1]!;
    const text = `#expiry,strike,right,open,high,low,close,volume,open_interest,implied_volatility,delta,gamma,vega,theta,rho
,,,550,551,548,549.9,100000,,,,,,,
20260918,550,C,9,10,8,9.5,120,10,0.2,0.5,0.02,0,0,0
20260918,550,P,9,10,8,9.1,130,20,0.21,-0.5,0.02,0,0,0
`;
    const expected = {
      ...{ underlying: 'ABC', asOf: Date.parse('2026-08-21T20:00:00Z'), spot: 549.9, count: 2, refused: {} },
      ...{
        openInterest: new Float64Array([10, 20]),
        last: new Float64Array([9.5, 9.1]),
        iv: new Float64Array([0.2, 0.21]),
      },
    };
    expect(read(text, toml, 'universes/abc/20260821.csv')).toMatchObject({ kind: 'chain', chain: expected });
    // A person may name the file itself.
    const file = {
      origin: '20260821.csv',
      path: '/data/abc/20260821.csv',
      stated: { mapping: parseMapping(toml, 'm.toml') },
    };
    expect(runToCompletion(readMarketFile(Buffer.from(text), file))).toMatchObject([
      { kind: 'chain', chain: expected },
    ]);
  });

  test.each([true, false])('of a vendor, which a mapping without columns completes (of a folder: %p)', (isOfFolder) => {
    const header = '[QUOTE_UNIXTIME],[UNDERLYING_LAST],[EXPIRE_DATE],[C_BID],[C_ASK],[STRIKE],[P_BID],[P_ASK]';
    const toml = '[constants]\nunderlying = "SPX"\n';
    const text = `${header}\n1787342400,100,2026-09-18,2,2.2,100,1,1.2\n`;
    expect(read(text, toml, 'renamed.txt', isOfFolder)).toMatchObject({ chain: { underlying: 'SPX', count: 2 } });
    const orats =
      'ticker,tradeDate,expirDate,strike,stockPrice,callOpenInterest,putOpenInterest,callBidPrice,callAskPrice,putBidPrice,putAskPrice';
    const other = `${orats}\nABC,2026-08-21,2026-09-18,100,100,1,2,2,2.2,1,1.2\n`;
    // In a folder, the mapping is not for one file alone.
    expect(read(other, toml, 'o.csv', isOfFolder)).toMatchObject({ chain: { underlying: isOfFolder ? 'ABC' : 'SPX' } });
  });

  test('of JSON with wildcards, keys and pointers', () => {
    const document = {
      price: 100,
      when: '2026-08-21',
      chain: {
        '2026-09-18': {
          '100': [{ bid: 2, ask: 2.1, oi: 10, type: 'C' }],
          '110': [{ bid: 1, ask: 1.1, oi: 5, type: 'C' }],
        },
      },
    };
    const toml = `rows = "/chain/*/*/*"
[constants]
underlying = "ABC"
[pointers]
spot = ["/last", "/price"]
as_of = "/when"
[columns]
expiry = "$1"
strike = "$2"
put_call = "type"
open_interest = "oi"`;
    expect(read(JSON.stringify(document), toml, 'x.json')).toMatchObject({
      chain: { underlying: 'ABC', spot: 100, count: 2, strike: new Float64Array([100, 110]) },
    });
  });
});

describe('refuses a mapping and names the key', () => {
  test.each([
    ['an unknown key', 'colums = 1', 'mapping m.toml: colums is not a key. The nearest are columns, '],
    [
      'an unknown field',
      '[columns]\nopen_intrest = "OI"',
      'columns.open_intrest is not a key. The nearest are open_interest',
    ],
    ['an unknown kind', 'kind = "quotes"', 'kind is not chain, prints or closes'],
    ['an unknown zone', '[forms]\nzone = "New York"', 'forms.zone is not the name of a time zone'],
    ['an unknown order', '[forms]\ndate = "MM/DD/YYYY"', 'forms.date is not one of YMD, MDY, DMY'],
    ['no time of day', '[forms]\nclose = "4 pm"', 'forms.close is not a time of day'],
    ['a factor of 0', '[forms]\nstrike = 0', 'forms.strike is not a factor'],
    ['a second file elsewhere', '[join]\nfile = "../oi.csv"', 'join.file is not the name of a file in the same folder'],
    ['a bad expression', "path = '('", 'path is not a regular expression'],
    ['a group that is no field', "path = '(?<tikcer>.*)'", 'path has a group tikcer, which is no field'],
    ['no TOML', 'vendor =', 'mapping m.toml, line 1, column '],
    ['a number as a column', '[columns]\nbid = true', 'columns.bid is not a text'],
  ])('%s', (_what, toml, message) => {
    expect(() => parseMapping(toml, 'm.toml')).toThrow(message);
  });
});

describe('refuses a table', () => {
  test.each([
    ['that lacks a column of the mapping', ROWS.replace('Open', 'Offen'), OWN, /no column Open \(nearest: offen/],
    ['with times without a zone', ROWS, OWN, /column "when" has times without a time zone, such as "2026-08-21 15:00"/],
    [
      'with dates in two orders',
      ROWS.replace('2026-09-18', '13/09/2026').replace('2026-09-18', '09/18/2026'),
      `${OWN}[forms]\nzone = "UTC"`,
      /dates of two orders, "09\/18\/2026" and "13\/09\/2026"/,
    ],
    [
      'with dates that could be either',
      ROWS.replaceAll('2026-09-18', '05/04/2027'),
      `${OWN}[forms]\nzone = "UTC"`,
      /day and month could be either/,
    ],
    [
      'without a readable expiry, with the first cell and its row',
      ROWS.replaceAll('2026-09-18', 'soon'),
      `${OWN}[forms]\nzone = "UTC"`,
      /none of 2 rows can be read.*row 1, column "exp": "soon" is not a date/,
    ],
  ])('%s', (_what, text, toml, reason) => {
    expect(read(text, toml)).toEqual({ kind: 'rejection', origin: 'table.csv', reason: expect.stringMatching(reason) });
  });
});

test('a folder’s mapping leaves other tables of the folder as they are', () => {
  const own = 'underlying,as_of,spot,symbol,open_interest\nABC,2026-08-21T16:00:00Z,98,ABC260918C00100000,1\n';
  expect(read(own, OWN, 'own.csv', true)).toMatchObject({ kind: 'chain' });
  expect(read('Date,Ticker,Close\n2026-08-21,ABC,100\n', OWN, 'closes.csv', true)).toMatchObject({ kind: 'closes' });
});

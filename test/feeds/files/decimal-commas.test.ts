import { describe, expect, test } from 'bun:test';
import { isDecimalComma, withPoint } from '../../../src/feeds/files/decimal-commas.ts';
import { chain, readText } from './reading.ts';

test.each([
  ['12,5', true, '12.5'],
  ['0,250', true, '0.250'],
  ['-0,05', true, '-0.05'],
  [',5', true, '.5'],
  ['1.234,5', true, '1234.5'],
  ['1 234,5', true, '1234.5'],
  ['1,5e-05', true, '1.5e-05'],
  ['$12,5', true, '$12.5'],
  ['25,5%', true, '25.5%'],
  ['1234', false, '1234'],
  ['1,250', false, '1.250'],
  ['1.250', false, '1250'],
  ['12.5', false, '?12.5'],
  ['n/a', false, 'n/a'],
  ['', false, ''],
])('%j has a decimal comma: %p, and is %j with a point', (text, isComma, point) => {
  expect([isDecimalComma(text), withPoint(text)]).toEqual([isComma, point]);
});

/** Tables of Zomma and of an unknown vendor, with strikes, quotes and volatilities. */
const OWN = 'underlying;as_of;spot;expiry;put_call;strike;bid;ask;iv;open_interest';
const USUAL = 'ticker;quote date;spot;expiration;type;strike;best bid;best ask;implied vol;oi';
const row = (strike: string, side: string, bid: string) =>
  `ABC;2026-08-21T16:00:00Z;100;2026-09-18;${side};${strike};${bid};${bid};0.25;10`;

describe('refuses decimal commas, and says what to state', () => {
  test.each([
    ['quotes of Zomma’s table', OWN, [row('100', 'C', '3'), row('100', 'P', '2,5')], '"2,5" in row 2, column bid'],
    [
      'strikes of Zomma’s table',
      OWN,
      [row('102,5', 'C', '3'), row('102,5', 'P', '2')],
      '"102,5" in row 1, column strike',
    ],
    [
      'quotes of another table',
      USUAL,
      [row('100', 'C', '3'), row('100', 'P', '2,5')],
      '"2,5" in row 2, column "best bid"',
    ],
    [
      'strikes of another table',
      USUAL,
      [row('102,5', 'C', '3'), row('102,5', 'P', '2')],
      '"102,5" in row 1, column "strike"',
    ],
  ])('%s', (_what, header, rows, first) => {
    expect(readText(`${[header, ...rows].join('\n')}\n`)).toMatchObject([
      {
        kind: 'rejection',
        reason: expect.stringContaining(
          `the numbers have decimal commas, first ${first}. State decimal = "," below [forms]`,
        ),
      },
    ]);
  });
});

test('few numbers with a comma among many are bad values', () => {
  const rows = [...Array(40).keys()].flatMap((i) => [
    row(String(80 + i), 'C', i === 3 ? '2,5' : '30'),
    row(String(80 + i), 'P', '10'),
  ]);
  expect(chain(`${[OWN, ...rows].join('\n')}\n`)).toMatchObject({ count: 80, refused: { bad_value: 2 } });
});

test('a decimal comma after a zero is not one between thousands', () => {
  const rows = [
    row('100', 'C', '2'),
    row('100', 'P', '2').replace('0.25', '0,250'),
    row('105', 'P', '4').replace('0.25', '0,250'),
  ];
  expect(readText(`${[OWN, ...rows].join('\n')}\n`)).toMatchObject([
    { kind: 'rejection', reason: expect.stringContaining('"0,250" in row 2, column iv') },
  ]);
});

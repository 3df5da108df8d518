import { expect, test } from 'bun:test';
import { runToCompletion } from '../../../src/core/steps.ts';
import { readMarketFile } from '../../../src/feeds/files/read-market-file.ts';
import type { Stated } from '../../../src/feeds/vendors/stated.ts';
import { addDays, closeOf, newYorkInstant, nextTradingDay } from '../../../src/market/calendar.ts';
import type { Chain } from '../../../src/market/chain.ts';

/** A generator of pseudo-random numbers in [0, 1) (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const partsOf = (date: string) => [date.slice(0, 4), date.slice(5, 7), date.slice(8)] as const;
const short = (text: string) => String(Number(text));
/** Ways to write a date. */
const DATES: Readonly<Record<string, (date: string) => string>> = {
  iso: (date) => date,
  digits: (date) => date.replaceAll('-', ''),
  us: (date) => (([y, m, d]) => `${m}/${d}/${y}`)(partsOf(date)),
  usShort: (date) => (([y, m, d]) => `${short(m)}/${short(d)}/${y}`)(partsOf(date)),
  usTwoDigits: (date) => (([y, m, d]) => `${m}/${d}/${y.slice(2)}`)(partsOf(date)),
  european: (date) => (([y, m, d]) => `${d}/${m}/${y}`)(partsOf(date)),
  dots: (date) => (([y, m, d]) => `${d}.${m}.${y}`)(partsOf(date)),
  named: (date) => (([y, m, d]) => `${d}-${MONTHS[Number(m) - 1]}-${y}`)(partsOf(date)),
  english: (date) => (([y, m, d]) => `"${MONTHS[Number(m) - 1]} ${short(d)}, ${y}"`)(partsOf(date)),
  midnight: (date) => `${date}T00:00:00`,
  midnightText: (date) => `${date} 00:00:00`,
  usMidnight: (date) => (([y, m, d]) => `${short(m)}/${short(d)}/${y} 0:00:00`)(partsOf(date)),
};

interface WrittenTime {
  readonly text: string;
  readonly at: number;
  readonly stated?: Stated;
}

/** Returns a time of quotes in one of many forms, with the instant that it means. */
function timeFrom(random: () => number, date: string): WrittenTime {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!;
  const form = pick(Object.values(DATES));
  const time = `${pick(['09', '11', '15'])}:${pick(['31', '45', '59'])}:00`;
  const newYork = newYorkInstant(date, time);
  const utc = Date.parse(`${date}T${time}Z`);
  return pick<() => WrittenTime>([
    () => ({ text: form(date), at: closeOf(date) }),
    () => ({ text: form(date), at: newYorkInstant(date, '15:45'), stated: { close: '15:45' } }),
    () => ({ text: `${date}T${time}Z`, at: utc }),
    () => ({ text: `${date} ${time}+00:00`, at: utc }),
    () => ({ text: `${date} ${time} ET`, at: newYork }),
    () => ({ text: `${date} ${time}`, at: newYork, stated: { zone: 'America/New_York' } }),
    () => ({ text: `${DATES.us!(date)} ${time}`, at: newYork, stated: { zone: 'America/New_York' } }),
    () => ({ text: `${date} ${time}`, at: utc, stated: { zone: 'UTC' } }),
    () => ({ text: String(newYork / 1_000), at: newYork }),
    () => ({ text: String(newYork), at: newYork }),
    () => ({ text: `${newYork}000`, at: newYork }),
    () => ({ text: `${newYork}000000`, at: newYork }),
    () => ({ text: `${date} ${time}`, at: Number.NaN }),
  ])();
}

const NAMES = [
  [
    'underlying_symbol',
    'quote_date',
    'stock_price',
    'expiration',
    'option_type',
    'strike',
    'bid',
    'ask',
    'open_interest',
    'iv',
  ],
  [
    'Ticker',
    'Trade Date',
    'Spot',
    'Expiry',
    'Right',
    'Strike Price',
    'Bid Price',
    'Ask Price',
    'Open Int',
    'Implied Vol',
  ],
  [
    'UnderlyingTicker',
    'timestamp',
    'underlyingPrice',
    'expirationDate',
    'contractType',
    'strike',
    'bestBid',
    'bestAsk',
    'OI',
    'impliedVolatility',
  ],
];
const SIDES = [
  ['C', 'P'],
  ['call', 'put'],
  ['CE', 'PE'],
  ['Calls', 'Puts'],
  ['c', 'p'],
] as const;

/** Writes a table of options in forms that `seed` chooses. Returns the text, and the chain that it means. */
function generated(seed: number) {
  const random = randomFrom(seed);
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!;
  const date = nextTradingDay(addDays('2019-01-01', Math.floor(random() * 2_400)));
  const time = timeFrom(random, date);
  const expiryForm = pick(Object.keys(DATES));
  const expiries = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, i) =>
    addDays(date, 1 + i * 9 + Math.floor(random() * 9)),
  );
  const sides = pick(SIDES);
  const percent = pick(['decimal', 'percent', 'sign'] as const);
  const strikes = [80, 90, 100, 110, 120.5];
  const strikeForm = pick<(strike: number) => string>([
    (each) => String(each),
    (each) => `$${each}`,
    (each) => String(each * 1_000),
  ]);
  const delimiter = pick([',', ';', '\t', '|']);
  const rows = expiries.flatMap((expiry) =>
    strikes.flatMap((strike, i) =>
      sides.map((side, j) => {
        const worth = Math.max(0, j === 0 ? 100 - strike : strike - 100);
        const iv = percent === 'decimal' ? '0.25' : percent === 'percent' ? '25' : '25%';
        const cells = ['ABC', time.text, '100', DATES[expiryForm]!(expiry), side, strikeForm(strike)];
        return [...cells, String(worth + 1), String(worth + 1.2), String(10 * i + j + 1), iv].join(delimiter);
      }),
    ),
  );
  return {
    text: `${[pick(NAMES).join(delimiter), ...rows].join('\n')}\n`,
    stated: time.stated,
    meant: { at: time.at, expiries: [...new Set(expiries)].sort(), strikes, rows: rows.length },
  };
}

function meaningOf(chain: Chain) {
  const openInterest = [...chain.openInterest];
  // Of an odd open interest the option is a call, of an even one a put.
  const sidesAreRight = openInterest.every((each, i) => (each % 2 === 1) === (chain.callPut[i] === 1));
  return {
    at: chain.asOf,
    expiries: [...new Set(chain.series.map(({ expiry }) => expiry))].sort(),
    strikes: [...new Set(chain.strike)].sort((a, b) => a - b),
    sidesAreRight,
    iv: [...new Set(chain.iv)],
  };
}

const FILES = 2_000;

test(`${FILES} tables in mixed forms are read right or refused, and most are read`, () => {
  const wrong: unknown[] = [];
  const refusals: string[] = [];
  for (let seed = 1; seed <= FILES; seed++) {
    const { text, stated, meant } = generated(seed);
    const file = { origin: 'table.csv', stated };
    const [delivery, ...more] = runToCompletion(readMarketFile(Buffer.from(text), file));
    if (delivery?.kind === 'rejection') refusals.push(delivery.reason);
    else if (delivery?.kind !== 'chain' || more.length > 0) wrong.push([seed, delivery?.kind, more.length]);
    else {
      const { at, expiries, strikes } = meant;
      const read = meaningOf(delivery.chain);
      if (!Bun.deepEquals(read, { at, expiries, strikes, sidesAreRight: true, iv: [0.25] }))
        wrong.push([seed, read, meant]);
    }
  }
  expect(wrong.slice(0, 3)).toEqual([]);
  // Refused is only what could be read in two ways, or has no zone.
  expect(refusals.filter((each) => !/could be either|without a time zone/.test(each)).slice(0, 3)).toEqual([]);
  expect(refusals.length / FILES).toBeLessThan(0.35);
});

import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { deliveriesOf } from '../../../src/feeds/files/deliveries.ts';
import { createFilesFeed } from '../../../src/feeds/files/files-feed.ts';
import { parseMapping } from '../../../src/feeds/vendors/mapping-file.ts';
import { partnersOf } from '../../../src/feeds/vendors/second-file.ts';
import { newYorkDate } from '../../../src/market/calendar.ts';
import type { Delivery } from '../../../src/market/feed.ts';
import { testFolder } from '../../support/test-folder.ts';

const path = testFolder();

const STRIKES = Array.from({ length: 60 }, (_, i) => 75 + i);
const SPOT = 104.5;

/** What the files of a day have. */
interface Written {
  /** The times of the open interest, or `undefined` without a column of times. */
  readonly oiTime?: string | undefined;
  readonly oiName?: string;
  readonly has?: (strike: number) => boolean;
  readonly isQuoted?: (strike: number) => boolean;
  readonly interest?: (strike: number) => number | string;
  /** The name of the column with the open interest. */
  readonly column?: string;
  /** Changes the rows of the second file. */
  readonly change?: (rows: string[]) => string[];
}

const HEADER = 'symbol,expiration,strike,right,timestamp,open,high,low,close,volume,count,bid,ask';

function quotesOf(day: string, isQuoted: (strike: number) => boolean = () => true): string[] {
  return STRIKES.filter(isQuoted).flatMap((strike) =>
    ['CALL', 'PUT'].map((right) => {
      const bid = Math.max(0, right === 'CALL' ? SPOT - strike : strike - SPOT) + 1;
      return `SPXW,2026-09-18,${strike}.000,${right},${day}T17:15:0${strike % 10}.123,1,1,1,1,5,1,${bid},${bid + 0.2}`;
    }),
  );
}

function interestOf(
  time: string | undefined,
  { has = () => true, interest = (strike) => strike }: Written = {},
): string[] {
  return STRIKES.filter(has).flatMap((strike) =>
    ['CALL', 'PUT'].map(
      (right) => `SPXW,2026-09-18,${strike}.000,${right},${time === undefined ? '' : `${time},`}${interest(strike)}`,
    ),
  );
}

/** End-of-day quotes and open interest as ThetaData writes them. The open interest of a strike is the strike. */
function write(day: string, written: Written = {}): void {
  const { oiName = `SPX_${day}_open_interest.csv` } = written;
  const oiTime = 'oiTime' in written ? written.oiTime : `${day}T06:30:00.500`;
  writeFileSync(path(`SPX_${day}_eod.csv`), `${HEADER}\n${quotesOf(day, written.isQuoted).join('\n')}\n`);
  const { column = 'open_interest', change = (rows) => rows } = written;
  const named = `symbol,expiration,strike,right,${oiTime === undefined ? '' : 'timestamp,'}${column}`;
  writeFileSync(path(oiName), `${named}\n${change(interestOf(oiTime, written)).join('\n')}\n`);
}

const read = (origin: string, mapping?: string): Promise<Delivery[]> => {
  const stated = mapping === undefined ? undefined : { mapping: parseMapping(mapping, 'm.toml') };
  return Array.fromAsync(deliveriesOf(path(), { origin }, { nowMs: Date.now(), stated }));
};

test('joins open interest by contract and day; the time is the close', async () => {
  write('2026-08-20');
  write('2026-08-21');
  const [delivery, ...more] = await read('SPX_2026-08-21_eod.csv');
  expect(more).toEqual([]);
  expect(delivery).toMatchObject({
    chain: { underlying: 'SPX', asOf: Date.parse('2026-08-21T20:00:00Z'), count: 120, refused: {} },
  });
  const { chain } = delivery as Extract<Delivery, { kind: 'chain' }>;
  expect(chain.openInterest).toEqual(chain.strike);
});

test.each<[string, Written]>([
  ['stamped the session before', { oiTime: '2026-08-20T16:30:00' }],
  ['without times, with the date in its name', { oiTime: undefined }],
  ['without a date', { oiTime: undefined, oiName: 'open_interest.csv' }],
])('takes a second file %s', async (_what, written) => {
  write('2026-08-21', written);
  expect(await read('SPX_2026-08-21_eod.csv')).toMatchObject([{ chain: { count: 120, refused: {} } }]);
});

const NEAR = (strike: number) => Math.abs(strike - SPOT) < 3;
test.each<[string, Written, RegExp]>([
  [
    'that lacks a sixth of the contracts',
    { has: (strike) => strike >= 85 },
    /20 of 120 contracts are not in SPX_2026-08-21_open/,
  ],
  [
    'of another day',
    { oiTime: '2026-08-19T06:30:00' },
    /SPX_2026-08-21_open_interest.csv is of 2026-08-19, and the quotes are of 2026-08-21/,
  ],
  ['of a later day', { oiTime: '2026-08-24T06:30:00' }, /is of 2026-08-24, and the quotes are of 2026-08-21/],
  [
    'with another day in its name',
    { oiTime: undefined, oiName: 'SPX_2026-08-19_open_interest.csv' },
    /is of 2026-08-19/,
  ],
  ['whose times cannot be read', { oiTime: 'soon' }, /120 of 120 contracts are not in .*, of which no row can be read/],
  [
    'of another ticker',
    { change: (rows) => rows.map((row) => row.replace('SPXW', 'XLF')) },
    /it has contracts of XLF. Both files must be of the same ticker/,
  ],
  [
    'with strikes in thousandths',
    { change: (rows) => rows.map((row) => row.replace('.000,', '000,')) },
    /its strikes are about 1000 times those of the quotes/,
  ],
  [
    'without puts',
    { change: (rows) => rows.filter((row) => !row.includes('PUT')) },
    /it has no puts of these expiries/,
  ],
  ['of which half is missing', { change: (rows) => rows.slice(60) }, /60 of 120 contracts .*, which has 60 rows/],
  [
    'with a renamed column',
    { column: 'positions' },
    /SPX_2026-08-21_open_interest.csv has no contracts with a column open_interest. Its columns are symbol, .*, positions/,
  ],
  [
    'with contradicting rows of many contracts',
    { change: (rows) => [...rows, ...rows.slice(0, 20).map((row) => `${row}9`)] },
    /SPX_2026-08-21_open_interest.csv has rows with different values of 20 of its 120 contracts, first of SPXW/,
  ],
  [
    'with words for the open interest',
    { interest: (strike) => (strike % 4 === 0 ? 'n/a' : strike) },
    /the open interest of 30 of 120 contracts cannot be read/,
  ],
  [
    'that lacks the contracts near spot',
    { has: (strike) => !NEAR(strike) },
    /12 of the 12 contracts nearest to spot have no open interest in SPX_2026-08-21_open_interest.csv/,
  ],
  [
    'whose largest contracts have no quotes',
    { isQuoted: (strike) => strike !== 105, interest: (strike) => (strike === 105 ? 2_000 : 10) },
    /77 % of the open interest in SPX_2026-08-21_open_interest.csv is of contracts that are not quoted/,
  ],
])('refuses a second file %s', async (_what, written, reason) => {
  write('2026-08-21', written);
  expect(await read('SPX_2026-08-21_eod.csv')).toEqual([
    { kind: 'rejection', origin: 'SPX_2026-08-21_eod.csv', reason: expect.stringMatching(reason) },
  ]);
});

test('tells of contracts that the second file lacks or has twice, and the first row counts', async () => {
  write('2026-08-21', { change: (rows) => [...rows.slice(6), ...rows.slice(-1).map((row) => `${row}9`)] });
  const [delivery] = await read('SPX_2026-08-21_eod.csv');
  const file = 'SPX_2026-08-21_open_interest.csv';
  expect(delivery).toMatchObject({
    second: { file, absent: 6 },
    notes: [`${file} has rows with different values of 1 contracts, of which the first row counts`],
  });
  const { chain } = delivery as Extract<Delivery, { kind: 'chain' }>;
  expect(chain.openInterest.at(-1)).toBe(134);
});

test('of two second files whose names fit equally, the one of the day of the quotes counts', async () => {
  write('2026-08-21');
  for (const [name, day, interest] of [
    ['aa_open_interest.csv', '2026-08-20', 1],
    ['bb_open_interest.csv', '2026-08-21', 2],
  ] as const)
    write('2026-08-21', { oiName: name, oiTime: `${day}T06:30:00`, interest: () => interest });
  await Bun.file(path('SPX_2026-08-21_open_interest.csv')).delete();
  const [delivery] = await read('SPX_2026-08-21_eod.csv');
  expect(delivery).toMatchObject({ second: { file: 'bb_open_interest.csv', absent: 0 } });
});

test('says how a second file with another name must be named, and that there is none', async () => {
  write('2026-08-21', { oiName: 'oi.csv' });
  const noticesOf = async () =>
    (await read('SPX_2026-08-21_eod.csv')).map((each) => (each.kind === 'chain' ? each.notes : each));
  expect(await noticesOf()).toEqual([
    [
      'oi.csv looks like its second file with open_interest, but is not named *open_interest*. Name it, for example, SPX_2026-08-21_eod_open_interest.csv',
    ],
  ]);
  expect(await read('oi.csv')).toEqual([
    {
      ...{ kind: 'rejection', origin: 'oi.csv' },
      reason: expect.stringMatching(
        /^the table has open interest and no quotes, so it is a second file\. .*oi_open_interest.csv/,
      ),
    },
  ]);
  for (let i = 0; i < 20; i++) writeFileSync(path(`SPX_${i}.csv`), 'a,b\n');
  expect(JSON.stringify(await noticesOf())).toContain('oi.csv looks like');
  await Bun.file(path('oi.csv')).delete();
  expect(await noticesOf()).toEqual([['there is no second file *open_interest* with open_interest beside it']]);
});

test('a mapping names the columns of its second file, and no other column counts', async () => {
  write('2026-08-21', { oiName: 'oi.csv' });
  const mapping = (column: string, file = 'oi.csv') =>
    `[columns]\nunderlying = "symbol"\nas_of = "timestamp"\n[forms]\nzone = "America/New_York"\nas_of = "day"\n[join]\nfile = "${file}"\ncolumns = { open_interest = "${column}" }\n`;
  const [taken] = await read('SPX_2026-08-21_eod.csv', mapping('open_interest'));
  expect(taken).toMatchObject({ kind: 'chain', second: { file: 'oi.csv' } });
  expect(await read('SPX_2026-08-21_eod.csv', mapping('OI2'))).toMatchObject([
    { kind: 'rejection', reason: expect.stringMatching(/^oi.csv has no contracts with a column OI2. Its columns are/) },
  ]);
  const [without] = await read('SPX_2026-08-21_eod.csv', mapping('open_interest', 'none.csv'));
  expect(without).toMatchObject({ notes: [expect.stringMatching(/oi.csv looks like its second file/)] });
});

test('of several days, those without open interest are refused', async () => {
  const days = ['2026-08-18', '2026-08-19', '2026-08-20', '2026-08-21'];
  writeFileSync(path('SPX_eod.csv'), `${HEADER}\n${days.flatMap((day) => quotesOf(day)).join('\n')}\n`);
  const rows = ['2026-08-18', '2026-08-21'].flatMap((day) => interestOf(`${day}T06:30:00`));
  writeFileSync(
    path('SPX_open_interest.csv'),
    `symbol,expiration,strike,right,timestamp,open_interest\n${rows.join('\n')}\n`,
  );
  const found = await read('SPX_eod.csv');
  expect(found.map((each) => (each.kind === 'chain' ? newYorkDate(each.chain.asOf) : each))).toEqual([
    '2026-08-18',
    ...['19', '20'].map((day) =>
      expect.objectContaining({
        kind: 'rejection',
        reason: expect.stringMatching(new RegExp(`of 2026-08-18 to 2026-08-21.* are of 2026-08-${day}`)),
      }),
    ),
    '2026-08-21',
  ]);
});

test('a drop folder reads a file again when its second file arrives', async () => {
  write('2026-08-21');
  const interest = await Bun.file(path('SPX_2026-08-21_open_interest.csv')).text();
  await Bun.file(path('SPX_2026-08-21_open_interest.csv')).delete();
  const checkpoints = new Map<string, string>();
  const feed = createFilesFeed(path(), { pause: async () => {}, checkpoints: () => checkpoints });
  const poll = async () => {
    const sums: number[] = [];
    for await (const delivery of feed.poll(Date.now())) {
      if (delivery.kind === 'checkpoint' && delivery.value === null) checkpoints.delete(delivery.key);
      else if (delivery.kind === 'checkpoint') checkpoints.set(delivery.key, delivery.value!);
      else if (delivery.kind === 'chain')
        sums.push(delivery.chain.openInterest.reduce((all, each) => all + (each || 0), 0));
    }
    return sums;
  };
  expect(await poll()).toEqual([0]);
  writeFileSync(path('SPX_2026-08-21_open_interest.csv'), interest);
  expect(await poll()).toEqual([]);
  expect(await poll()).toEqual([2 * STRIKES.reduce((all, each) => all + each, 0)]);
  expect(await poll()).toEqual([]);
});

test.each([
  ['SPX_2026-08-21_eod.csv', ['SPX_2026-08-20_open_interest.csv', 'SPX_2026-08-21_open_interest.csv'], 1],
  ['eod.csv', ['open_interest.csv'], 0],
])('chooses the second file of %s by its name', (name, candidates, chosen) => {
  expect(partnersOf(name, candidates)).toEqual([candidates[chosen]!]);
});

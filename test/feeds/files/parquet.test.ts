import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { SchemaElement } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { deliveriesOf } from '../../../src/feeds/files/deliveries.ts';
import type { Stated } from '../../../src/feeds/vendors/stated.ts';
import { DAY_MS } from '../../../src/market/calendar.ts';
import type { Chain } from '../../../src/market/chain.ts';
import type { Delivery } from '../../../src/market/feed.ts';
import { testFolder } from '../../support/test-folder.ts';
import { asText, chain as chainOfText, NOON_MS } from './reading.ts';
import { NOW_MS, read as readTape, tape } from './tapes.ts';

const drop = testFolder();

async function read(content: Uint8Array | ArrayBuffer, stated: Stated = {}): Promise<Delivery[]> {
  writeFileSync(drop('x'), new Uint8Array(content));
  return Array.fromAsync(deliveriesOf(drop(), { origin: 'x' }, { nowMs: NOW_MS, stated }));
}

type Columns = Parameters<typeof parquetWriteBuffer>[0]['columnData'];
type Options = Omit<Parameters<typeof parquetWriteBuffer>[0], 'columnData'>;

const TEXT = `underlying,as_of,spot,symbol,expiry,put_call,strike,bid,open_interest,iv
TEST,2026-08-21T16:00:00Z,100,TEST260918C00100000,2026-09-18,C,100,1.5,1200,0.25
TEST,2026-08-21T16:00:00Z,100,TEST260918P00100000,2026-09-18,P,100,,7,
TEST,2026-08-21T16:00:00Z,100,TEST261016C05000300,2026-10-16,C,5000.3,0.05,0,0.00001
`;
const SYMBOLS = TEXT.split('\n')
  .slice(1, 4)
  .map((line) => line.split(',')[3]!);
const plain = (changes: Record<string, unknown[]> = {}): Columns =>
  Object.entries({
    ...{ underlying: ['TEST', 'TEST', 'TEST'], as_of: Array(3).fill('2026-08-21T16:00:00Z'), spot: [100, 100, 100] },
    ...{ symbol: SYMBOLS, bid: [1.5, null, 0.05], open_interest: [1200, 7, 0], iv: [0.25, Number.NaN, 0.00001] },
    ...changes,
  }).map(([name, data]) => ({ name, data, nullable: true }) as Columns[number]);

/** Without the file's name. */
const columnsOf = ({ source: _, ...same }: Chain) => asText(same);
const chainOf = async (columns: Columns, options: Options = {}) => {
  const [delivery, ...more] = await read(parquetWriteBuffer({ columnData: columns, ...options }));
  expect([delivery, more]).toEqual([expect.objectContaining({ kind: 'chain' }), []]);
  return (delivery as Extract<Delivery, { kind: 'chain' }>).chain;
};

const schemaOf = (types: Record<string, Omit<SchemaElement, 'name'>>): SchemaElement[] => [
  { name: 'root', num_children: Object.keys(types).length },
  ...Object.entries(types).map(([name, type]) => ({ name, repetition_type: 'OPTIONAL' as const, ...type })),
];
const TEXT_TYPE = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;

test('rows as text and as columns of any type give the same chain', async () => {
  const expected = columnsOf(chainOfText(TEXT));
  expect(columnsOf(await chainOf(plain()))).toEqual(expected);

  const noonMicros = BigInt(NOON_MS) * 1000n;
  const day = (date: string) => Date.parse(`${date}T00:00:00Z`);
  const utc = { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' } as const;
  const local = { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'NANOS' } as const;
  const expiries = ['2026-09-18', '2026-09-18', '2026-10-16'].map(day);
  for (const expiry of [
    { type: { type: 'INT32', converted_type: 'DATE' }, data: expiries.map((ms) => ms / DAY_MS) },
    { type: { type: 'INT64', logical_type: local }, data: expiries.map((ms) => BigInt(ms) * 1_000_000n) },
  ]) {
    const typed = await chainOf(
      [
        { name: 'Underlying', data: ['TEST', 'TEST', 'TEST'] },
        { name: 'as_of', data: [noonMicros, noonMicros, noonMicros] },
        { name: 'spot', data: [100, 100, 100] },
        { name: 'expiry', data: expiry.data },
        { name: 'put_call', data: ['C', 'P', 'C'] },
        { name: 'strike', data: [100, 100, 5000.3] },
        { name: 'bid', data: [150n, null, 5n] },
        { name: 'open_interest', data: [1200n, 7n, 0n] },
        { name: 'iv', data: [0.25, null, 0.00001] },
      ] as Columns,
      {
        schema: schemaOf({
          ...{ Underlying: TEXT_TYPE, as_of: { type: 'INT64', logical_type: utc }, spot: { type: 'DOUBLE' } },
          ...{ expiry: expiry.type as Omit<SchemaElement, 'name'>, put_call: TEXT_TYPE, strike: { type: 'FLOAT' } },
          bid: { type: 'INT64', converted_type: 'DECIMAL', precision: 10, scale: 2 },
          open_interest: { type: 'INT64' },
          iv: { type: 'DOUBLE' },
        }),
      },
    );
    expect(columnsOf(typed)).toEqual(expected);
  }
});

const codecs = {
  UNCOMPRESSED: undefined,
  SNAPPY: undefined,
  GZIP: (page: Uint8Array) => new Uint8Array(gzipSync(page)),
  ZSTD: (page: Uint8Array) => new Uint8Array(zstdCompressSync(page)),
  BROTLI: (page: Uint8Array) => new Uint8Array(brotliCompressSync(page)),
};
test.each(Object.entries(codecs))('reads %s compression, with row groups of any size', async (codec, pack) => {
  for (const rowGroupSize of [1, 2, 100]) {
    const compressors = (pack && { [codec]: pack }) as NonNullable<Options['compressors']>;
    const chain = await chainOf(plain(), { codec: codec as never, rowGroupSize, ...(pack && { compressors }) });
    expect(columnsOf(chain)).toEqual(columnsOf(chainOfText(TEXT)));
  }
});

test('a tape as columns has the same prints and ids as the tape as text', async () => {
  const rows = [{}, {}, { size: '3', report_flags: '{sweep}' }, { price: 'x' }, { canceled: 't' }];
  const text = tape(...rows);
  const [header, ...lines] = text.trimEnd().split('\n');
  const cells = lines.map((line) => line.split(','));
  const at = header!.split(',').indexOf('executed_at');
  const micros = BigInt(Date.parse('2026-08-17T13:30:01Z')) * 1000n + 7140n;
  const named = header!.split(',').map((name, column) => ({ name, data: cells.map((row) => row[column]!) }));
  const instants = { name: 'executed_at', data: cells.map(() => micros) };
  const columnData = named.map((column, each) => (each === at ? instants : column));
  for (const isAdjustedToUTC of [true, false]) {
    const logical_type = { type: 'TIMESTAMP', isAdjustedToUTC, unit: 'MICROS' } as const;
    const types = Object.fromEntries(named.map(({ name }) => [name, TEXT_TYPE]));
    const schema = schemaOf({ ...types, executed_at: { type: 'INT64', logical_type } });
    const file = parquetWriteBuffer({ columnData, schema, rowGroupSize: 2 });
    const deliveries = await read(file, isAdjustedToUTC ? {} : { zone: 'UTC' });
    const batches = deliveries.filter((delivery) => delivery.kind === 'prints');
    const expected = await readTape(text);
    expect([batches.length, deliveries.length]).toEqual([1, 1]);
    expect(batches.flatMap(({ prints }) => [...prints])).toEqual(expected.prints);
    expect(batches.map(({ refused }) => refused)).toEqual([expected.refused]);
    if (!isAdjustedToUTC)
      expect(await read(file)).toMatchObject([
        { kind: 'rejection', reason: expect.stringMatching(/without a time zone, first .* in row 1/) },
      ]);
  }
});

test('reads closes and dividends, and skips a table of other data', async () => {
  const closes = [
    { name: 'date', data: ['2026-08-21'] },
    { name: 'ticker', data: ['SPY'] },
    { name: 'close', data: [640.5] },
  ];
  expect(await read(parquetWriteBuffer({ columnData: closes }))).toMatchObject([
    { kind: 'closes', closes: { length: 1 } },
  ]);
  const dividends = [
    { name: 'ticker', data: ['SPY'] },
    { name: 'ex_date', data: ['2026-09-18'] },
    { name: 'amount', data: [1.79] },
    { name: 'known_from', data: ['2026-08-03'] },
  ];
  expect(await read(parquetWriteBuffer({ columnData: dividends }))).toMatchObject([
    {
      kind: 'dividends',
      dividends: [
        {
          ticker: 'SPY',
          exDate: '2026-09-18',
          amount: 1.79,
          status: null,
          knownFrom: Date.parse('2026-08-03T04:00:00Z'),
        },
      ],
    },
  ]);
  expect(await read(parquetWriteBuffer({ columnData: [{ name: 'a', data: [1] }] }))).toEqual([]);
});

test('tabs, quotation marks, line breaks and zero bytes stay in their cells', async () => {
  const ticker = [' SPY\t', '"SPY"', 'S\nPY', 'SPY\0', 'S"P"Y', '"', 'QQQ'];
  const columnData = [
    { name: 'date', data: ticker.map(() => '2026-08-21') },
    { name: 'ticker', data: ticker },
    { name: 'close', data: ticker.map((_, i) => i + 1) },
  ];
  expect(await read(parquetWriteBuffer({ columnData }))).toMatchObject([
    {
      closes: [
        { ticker: 'SPY', close: 1 },
        { ticker: 'QQQ', close: 7 },
      ],
    },
    { kind: 'rejection', reason: '5 of 7 rows are not closes' },
  ]);
});

describe('is refused with a reason', () => {
  const whole = () => new Uint8Array(parquetWriteBuffer({ columnData: plain() }));
  const many = (rows: number, id = (_row: number) => 'same') =>
    parquetWriteBuffer({
      columnData: [
        { name: 'executed_at', data: Array(rows).fill('2026-08-17T13:30:01Z') },
        { name: 'option_chain_id', data: Array(rows).fill(SYMBOLS[0]) },
        { name: 'price', data: Array(rows).fill(1) },
        { name: 'size', data: Array(rows).fill(1) },
        { name: 'id', data: Array.from({ length: rows }, (_, row) => id(row)) },
      ],
      rowGroupSize: rows,
    });
  const cases: [name: string, content: () => Uint8Array | ArrayBuffer, reason: RegExp][] = [
    ['a truncated file', () => whole().subarray(0, -9), /Parquet file is (truncated|damaged)/],
    ['only its first bytes', () => whole().subarray(0, 4), /Parquet file is truncated/],
    [
      'a missing column',
      () => parquetWriteBuffer({ columnData: plain().filter(({ name }) => name !== 'open_interest') }),
      /has no column open_interest/,
    ],
    [
      'times without a zone',
      () => parquetWriteBuffer({ columnData: plain({ as_of: Array(3).fill('2026-08-21T16:00:00') }) }),
      /none of 3 rows can be read: \{"bad_as_of":3\}/,
    ],
    ['a row group too large', () => many(1_200_001), /a row group has 1200001 rows/],
    ['more rows than bytes', () => many(300_000), /300000 rows in \d+ bytes/],
    [
      'more columns than a table may have',
      () =>
        parquetWriteBuffer({
          columnData: [...plain(), ...Array.from({ length: 94 }, (_, i) => ({ name: `c${i}`, data: [1, 2, 3] }))],
        }),
      /101 columns, more than the maximum of 100/,
    ],
  ];
  test.each(cases)('%s', async (_name, content, reason) => {
    const [delivery, ...more] = await read(content());
    expect(delivery).toMatchObject({ kind: 'rejection', origin: 'x', reason: expect.stringMatching(reason) });
    expect(more).toEqual([]);
  });

  test('or is read: a large row group in pieces', async () => {
    const counts = (await read(many(120_000, String))).map((each) => (each.kind === 'prints' ? each.prints.length : 0));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(120_000);
    expect(Math.max(...counts)).toBeLessThanOrEqual(50_000);
  });

  test('or is read: no damage hangs the reader or throws', async () => {
    const content = whole();
    for (let i = 4; i < content.length; i++) {
      for (const bits of [0xff, 0x01, 0x80]) {
        const damaged = Uint8Array.from(content);
        damaged[i]! ^= bits;
        for (const { kind } of await read(damaged)) expect(['chain', 'rejection']).toContain(kind);
      }
    }
  });
});

test('reads the option chain of yfinance, whose times of trades have no zone', async () => {
  const columns = Object.entries({
    ...{ contractSymbol: ['ABC260918C00100000', 'ABC260918P00100000'], strike: [100, 100] },
    ...{ lastTradeDate: [new Date(NOON_MS), new Date(NOON_MS)], bid: [2, 1], ask: [2.2, 1.2], lastPrice: [2.1, 1.1] },
    ...{ volume: [10, 20], openInterest: [30, 40], impliedVolatility: [0.25, 0.25], inTheMoney: [true, false] },
  }).map(([name, data]) => ({ name, data, nullable: true }) as Columns[number]);
  const content = parquetWriteBuffer({ columnData: columns });
  expect(await read(content, { asOf: NOON_MS })).toMatchObject([
    { kind: 'chain', chain: { underlying: 'ABC', asOf: NOON_MS, count: 2, openInterest: new Float64Array([30, 40]) } },
  ]);
  expect(await read(content)).toEqual([
    { kind: 'rejection', origin: 'x', reason: expect.stringContaining('states no time of its quotes') },
  ]);
});

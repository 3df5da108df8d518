import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import type { Chance } from './chance.ts';

export interface Bomb {
  /** The name of a file in the drop folder. */
  readonly name: string;
  /** A description of how the file was made. */
  readonly about: string;
  readonly content: Uint8Array;
}

const CHAIN = 'underlying,as_of,spot,symbol,open_interest\n';
const CLOSES = 'date,ticker,close\n';
const TAPE = 'executed_at,option_chain_id,price,size\n';
const QUOTES = '{"timestamp":"2026-08-21 20:00:00","data":{"current_price":100,"options":[';
const MB = 1_000_000;

const filled = (head: string, unit: string, bytes: number, end = '') =>
  Buffer.concat([Buffer.from(head), Buffer.alloc(bytes, unit), Buffer.from(end)]);
const packed = (content: Uint8Array) => gzipSync(content, { level: 9 });
const counted = (head: string, count: number, each: (i: number) => string, end = '') =>
  Buffer.from(head + Array.from({ length: count }, (_, i) => each(i)).join('') + end);

/** Makes a tape as Parquet. If all rows are equal, it takes some kilobytes. */
export function parquetTape(rows: number, rowGroupSize: number, cell = (_row: number): unknown => 'same'): Uint8Array {
  const column = (name: string, value: unknown) => ({ name, data: Array(rows).fill(value) });
  return new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        column('executed_at', '2026-08-17T13:30:01Z'),
        column('option_chain_id', 'TEST260918C00100000'),
        ...[column('price', 1), column('size', 1)],
        { name: 'id', data: Array.from({ length: rows }, (_, row) => cell(row)) as string[] },
      ],
      rowGroupSize,
    }),
  );
}

/** Files that ended or blocked a server before it had limits, with the reason of their rejection. Each file is made on demand. */
export const KNOWN_BOMBS: readonly (readonly [name: string, content: () => Uint8Array, reason: RegExp])[] = [
  ['rows-of-one-cell.csv.gz', () => packed(filled(CHAIN, '1\n', 62 * MB)), /unpacks to more than 200 times/],
  ['line-breaks.csv', () => filled(CHAIN, '\n', 62 * MB), /more than the maximum of 500000 lines|none of 0 rows/],
  ['returns.csv', () => filled(CHAIN, '\r', 62 * MB), /more than the maximum of 500000 lines|none of 0 rows/],
  ['open-quotes.csv', () => filled(CHAIN, '"a\n', 62 * MB), /more than the maximum of 500000 lines|never closed/],
  ['nested.json.gz', () => packed(filled('{"data":', '[', 31 * MB)), /unpacks to more than 200 times/],
  ['nested.json', () => filled('{"data":', '[', 60 * MB), /nested deeper than 32 levels/],
  ['objects.json', () => filled(QUOTES, '{},', 60 * MB), /more than 600000 objects and arrays/],
  [
    'closes.csv',
    () => filled(CLOSES, '1\n', 8.7 * MB),
    /more than the maximum of 500000 lines|more than the maximum of 250000 rows/,
  ],
  ['alike.parquet', () => parquetTape(3e6, 1e6), /3000000 rows in \d+ bytes/],
  [
    'names.json',
    () => counted(`${QUOTES}{`, 4.4e6, (i) => `"k${i}":1,`, '"k":1}]}}'),
    /took more than 384 MB|JSON of more/,
  ],
  [
    'tickers.csv',
    () => counted(CHAIN, 60_000, (i) => `${letters(i)},2026-08-21T16:00:00Z,100,${letters(i)}260918C00100000,1\n`),
    /1000 underlyings/,
  ],
];

/** 0 is `A`, 26 is `BA`. No text is longer than six letters. */
function letters(i: number): string {
  return (i >= 26 ? letters(Math.floor(i / 26)) : '') + String.fromCharCode(65 + (i % 26));
}

const HEADS = [
  CHAIN,
  CLOSES,
  TAPE,
  QUOTES,
  '{"data":',
  '[',
  '',
  'T,Last: 9\nDate: June 9, 2023 at 1:40 PM EDT\nCalls,Open Interest,Strike,Puts,Open Interest\n',
];
const UNITS = [
  ...['\n', '\r', '\r\n', '1\n', ',\n', ',', '"', '"a\n', 'a"b\n', '""\n', ' ', '\t', '\u00e9', '\u20ac\n', ';;;\n'],
  ...['[', '{', '{"a":', '[],', '{},', '1,', 'null,', '"a",', '"\\"', '[[],[]],', '{"option":"SPY260918C00100000"},'],
  ...[
    'SPY,2026-08-21T16:00:00Z,100,SPY260918C00100000,1\n',
    '2026-08-20,SPY,1\n',
    '2026-08-17T13:30:01Z,SPY260918C00100000,1,1\n',
  ],
  ...['<html>', '9'.repeat(400), 'e'.repeat(9_999), '-', '1e', '0x'],
];
const ENDS = ['', ']', ']}}', '"', '\n', '\0'];
const NAMES = ['csv', 'json', 'parquet', 'csv.gz', 'json.gz', 'txt'];

/** Makes a random hostile file. */
export function bombOf(chance: Chance, i: number): Bomb {
  const [about, content] = chance.pick([repeated, rising, columnar, columnar, mixed])(chance);
  const [wrapped, wrapping] = wrap(chance, content);
  return { name: `${i}.${chance.pick(NAMES)}`, about: `${about}${wrapping}`, content: wrapped };
}

/** Makes a random answer of a provider in place of quotes: of the same kinds, but as text. */
export function answerOf(chance: Chance): { readonly about: string; readonly body: Uint8Array } {
  const [about, body] = chance.pick([repeated, rising, mixed])(chance);
  return { about, body };
}

type Made = [about: string, content: Uint8Array];

function repeated(chance: Chance): Made {
  const [head, unit, end] = [chance.pick(HEADS), chance.pick(UNITS), chance.pick(ENDS)];
  const bytes = chance.size(1_000, 63 * MB);
  return [`${say(head)} then ${say(unit)} for ${bytes} bytes, ${say(end)}`, filled(head, unit, bytes, end)];
}

/** Each piece differs, so that names and rows cannot share memory. */
function rising(chance: Chance): Made {
  const [head, before, after] = chance.pick([
    [QUOTES, '{"a', '":1},'],
    [QUOTES, '"', '",'],
    [`${QUOTES}{`, '"', '":1,'],
    [CHAIN, 'A', ',2026-08-21T16:00:00Z,100,SPY260918C00100000,1\n'],
    [CHAIN, 'SPY,2026-08-21T16:00:00Z,1', ',SPY260918C00100000,1\n'],
    [CLOSES, '2026-08-20,S', ',1\n'],
    [TAPE, '2026-08-17T13:30:01Z,SPY260918C00100000,1.', ',1\n'],
    [TAPE, '', '\n'],
  ] as const);
  const count = chance.size(100, 1.5e6);
  return [
    `${say(head)} then ${count} times ${say(before)} N ${say(after)}`,
    counted(head, count, (i) => `${before}${i.toString(36)}${after}`),
  ];
}

function columnar(chance: Chance): Made {
  const rows = chance.size(10, 400_000);
  const kinds = chance.pick([1, 7, 1e9]);
  const content = parquetTape(rows, chance.size(10, 1.2e6), (row) => `i${row % kinds}`);
  const flips = chance.pick([0, 1, 1, 20]);
  // The directory of the file is at its end.
  const from = chance.pick([0, Math.max(0, content.length - 600)]);
  for (let flip = 0; flip < flips; flip++) content[from + chance.below(content.length - from)] = chance.below(256);
  return [`Parquet of ${rows} rows, ${kinds} of them different, ${flips} bytes changed from ${from} on`, content];
}

function mixed(chance: Chance): Made {
  const parts = Array.from({ length: 1 + chance.below(40) }, () => filled('', chance.pick(UNITS), chance.size(1, MB)));
  const head = chance.pick(HEADS);
  return [`${say(head)} then ${parts.length} stretches of any kind`, Buffer.concat([Buffer.from(head), ...parts])];
}

function wrap(chance: Chance, content: Uint8Array): [Uint8Array, string] {
  switch (chance.below(8)) {
    case 0:
    case 1:
      return [packed(content), ', packed'];
    case 2:
      return [packed(packed(content)), ', packed twice'];
    case 3:
      return [packed(content).subarray(0, -chance.size(1, 1_000)), ', packed and cut'];
    case 4:
      return [Buffer.concat([packed(content.subarray(0, 100)), packed(content)]), ', packed as two'];
    case 5: {
      const changed = packed(content);
      changed[10 + chance.below(changed.length - 10)]! ^= 1 + chance.below(255);
      return [changed, ', packed and damaged'];
    }
    default:
      return [content, ''];
  }
}

function say(text: string): string {
  return JSON.stringify(text.length > 24 ? `${text.slice(0, 24)}…` : text);
}

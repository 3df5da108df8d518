import { describe, expect, test } from 'bun:test';
import { readPrints } from '../../../src/feeds/files/prints-csv.ts';
import type { Print } from '../../../src/market/prints.ts';
import { type Cells, NOW_MS, ROW, read, tape } from './tapes.ts';

/** Returns the print of a tape with one row. */
async function only(cells: Cells): Promise<Print> {
  const { prints, refused } = await read(tape(cells));
  expect([prints.length, refused]).toEqual([1, {}]);
  return prints[0]!;
}

test('reads every field', async () => {
  expect(await only({ report_flags: '{sweep}', upstream_condition_detail: 'mlft', canceled: 't', id: 'a-1' })).toEqual({
    ...{ id: 'a-1', underlying: 'SPX', root: 'SPXW', expiry: '2026-08-21', callPut: 1, strike: 5000, price: 25.3 },
    ...{ size: 40, multiplier: 100, at: Date.parse('2026-08-17T13:30:01.007Z'), side: 'ask', bid: 24.9, ask: 25.3 },
    ...{ delta: 0.55, multiLeg: true, sweep: true, block: true, canceled: true, simulated: false },
  });
});

describe('a cell is read', () => {
  const at = (iso: string) => ({ at: Date.parse(iso) });
  const cases: [cells: Cells, print: Partial<Print>][] = [
    [{ executed_at: '2026-08-17T13:30:01.5Z' }, at('2026-08-17T13:30:01.5Z')],
    [{ executed_at: '2026-08-17T09:30:01-04:00' }, at('2026-08-17T13:30:01Z')],
    [{ executed_at: '2026-08-17T10:00:01-03:30' }, at('2026-08-17T13:30:01Z')],
    [{ executed_at: '2026-08-17 19:00:01.123456789+0530' }, at('2026-08-17T13:30:01.123Z')],
    [{ executed_at: '2026-08-17 13:30:01 UTC' }, at('2026-08-17T13:30:01Z')],
    [{ executed_at: '1787059801' }, { at: 1_787_059_801_000 }],
    [{ executed_at: '1787059801.25' }, { at: 1_787_059_801_250 }],
    [{ executed_at: '1787059801250' }, { at: 1_787_059_801_250 }],
    [{ executed_at: '1787059801250999' }, { at: 1_787_059_801_250 }],
    [{ executed_at: '1787059801250999999' }, { at: 1_787_059_801_250 }],
    [{ side: 'BID' }, { side: 'bid' }],
    [{ side: 'mid' }, { side: 'mid' }],
    [{ side: 'no_side' }, { side: null }],
    [{ side: '' }, { side: null }],
    ...['at_ask', 'Above Ask', 'ask_side', 'BUY'].map((side) => [{ side }, { side: 'ask' }] as never),
    ...['at bid', 'below_bid', 'bid-side', 'Seller'].map((side) => [{ side }, { side: 'bid' }] as never),
    [{ side: 'toString' }, { side: null }],
    [{ side: '', tags: '{ask_side,bullish}' }, { side: 'ask' }],
    [{ side: '', tags: '{no_side}' }, { side: null }],
    [{ delta: '-1' }, { delta: -1 }],
    [{ delta: '1.2' }, { delta: null }],
    [{ delta: '' }, { delta: null }],
    [{ nbbo_bid: '0' }, { bid: 0, ask: 25.3 }],
    [{ nbbo_bid: '' }, { bid: null, ask: null }],
    [{ nbbo_ask: '-1' }, { bid: null, ask: null }],
    [{ nbbo_ask: '1e999' }, { bid: null, ask: null }],
    [{ price: '1,025.30' }, { price: 1025.3 }],
    [{ size: '40.0' }, { size: 40 }],
    [{ canceled: 'false' }, { canceled: false }],
    [{ canceled: 'TRUE' }, { canceled: true }],
    [{ canceled: '1' }, { canceled: true }],
    [{ option_chain_id: 'O:SPXW260821C05000000' }, { root: 'SPXW' }],
    [{ option_chain_id: 'SPXW  260821C05000000', underlying_symbol: 'SPX' }, { root: 'SPXW' }],
    [{ option_chain_id: 'SPXW260821C05000000', underlying_symbol: '' }, { underlying: 'SPX' }],
    [
      { option_chain_id: '', underlying_symbol: 'SPX' },
      { root: 'SPX', underlying: 'SPX' },
    ],
    [
      { option_chain_id: '', underlying_symbol: 'SPX', expiry: '2026-08-20' },
      { root: 'SPXW', underlying: 'SPX' },
    ],
    [
      { option_chain_id: '', underlying_symbol: 'brk/b', option_type: 'P', strike: '499.5' },
      { root: 'BRKB', underlying: 'BRK.B', callPut: -1, strike: 499.5 },
    ],
    [{ option_chain_id: 'CWENA260821C00030000', underlying_symbol: 'CWEN.A', strike: '30' }, { root: 'CWENA' }],
    [{ option_chain_id: 'AMD1260821C00030000', underlying_symbol: 'AMD', strike: '30' }, { root: 'AMD1' }],
  ];
  test.each(cases)('%j', async (cells, print) => expect(await only(cells)).toMatchObject(print));
});

describe('flags by report flags and condition', () => {
  const MARKS: Readonly<Record<string, readonly string[]>> = {
    '': ['{} auto', ' ', '{constructor} constructor', '{} slan', '{} late'],
    sweep: ['{sweep} auto', '["intermarket_sweep"] auto', '{} ISOI', '{} slai'],
    'sweep block': ['{floor,sweep} auto', '{} slci'],
    block: ['cross auto', '{} slcn', '{} slft'],
    multiLeg: ['{} mlet', '{} mlat', '{} mesl', '{} masl', '{} tlet'],
    'multiLeg block': ['{} mlct', '{} mlft', '{} mfsl', '{} tlft', '{} cbmo', '{} mctp'],
    canceled: ['{} canc', '{} cncl', '{} cnco', '{} cnol'],
  };
  const marks = Object.entries(MARKS).flatMap(([marked, cells]) =>
    cells.map((each) => [...each.split(' '), marked] as [flags: string, condition: string, marked: string]),
  );
  test.each(marks)('%s %s: %s', async (report_flags, upstream_condition_detail, marked) => {
    const print = await only({ report_flags, upstream_condition_detail });
    const names = (['multiLeg', 'sweep', 'block', 'canceled'] as const).filter((name) => print[name]);
    expect(names.join(' ')).toBe(marked);
  });
});

describe('a row is refused', () => {
  const cases: [reason: string, cells: Cells][] = [
    ['bad_time', { executed_at: '' }],
    ['bad_time', { executed_at: 'noon' }],
    ['bad_time', { executed_at: '2026-02-30 13:30:01' }],
    ['bad_time', { executed_at: '2026-08-17 24:30:01' }],
    ['bad_time', { executed_at: '2026-08-17' }],
    ['implausible_time', { executed_at: '1989-08-17 13:30:01+00' }],
    ['implausible_time', { executed_at: '2026-08-21 00:00:01Z' }],
    ['bad_symbol', { option_chain_id: 'SPXW' }],
    ['bad_contract', { option_chain_id: '', underlying_symbol: '' }],
    ['bad_contract', { option_chain_id: '', expiry: '2026-08-32' }],
    ['bad_contract', { option_chain_id: '', option_type: 'straddle' }],
    ['bad_contract', { option_chain_id: '', strike: '0' }],
    ['bad_contract', { option_chain_id: '', strike: 'x' }],
    ['symbol_contradicts_columns', { underlying_symbol: 'SPY' }],
    ['symbol_contradicts_columns', { expiry: '2026-08-22' }],
    ['symbol_contradicts_columns', { option_type: 'put' }],
    ['symbol_contradicts_columns', { strike: '5005' }],
    ['expired', { option_chain_id: 'SPXW260814C05000000', expiry: '2026-08-14' }],
    ['bad_price', { price: '' }],
    ['bad_price', { price: '0' }],
    ['bad_price', { price: '-1' }],
    ['bad_price', { price: '100001' }],
    ['bad_size', { size: '' }],
    ['bad_size', { size: '0' }],
    ['bad_size', { size: '1.5' }],
    ['bad_size', { size: '10000001' }],
    ['bad_id', { id: 'x'.repeat(101) }],
  ];
  test.each(cases)('%s: %j', async (reason, cells) => {
    const { prints, refused } = await read(tape(cells, {}));
    // The valid row after it is read.
    expect([prints.length, refused]).toEqual([1, { [reason]: 1 }]);
  });

  test('with another number of cells, or with an open quote, without effect on other rows', async () => {
    const [header, row] = tape({}).split('\n');
    const text = [header, `${row},more`, row, 'a,b', `"${row}`, `${row},,`, ''].join('\n');
    expect(await read(text)).toMatchObject({ prints: { length: 2 }, refused: { malformed_row: 3 } });
  });

  test('but not a trade on the day after expiry, which is a late report', async () => {
    const late = { option_chain_id: '', executed_at: '2026-08-15 23:59:59Z', expiry: '2026-08-14' };
    expect((await read(tape(late))).prints).toHaveLength(1);
  });
});

describe('the text of a tape', () => {
  const rows = [{}, { report_flags: '{floor,sweep}' }, { price: '25.4', exchange: 'Zürich' }];

  test('gives the same prints in pieces of any size, with any line ends, title, delimiter, column order', async () => {
    const text = tape(...rows);
    const { prints } = await read(text);
    expect(prints.map(({ sweep, block }) => [sweep, block])).toEqual([
      [false, false],
      [true, true],
      [false, false],
    ]);
    for (let size = 1; size < 80; size++) expect([size, (await read(text, size)).prints]).toEqual([size, prints]);
    const split = new TextEncoder().encode(text);
    for (let i = 1; i < split.length; i++) {
      const halves = (async function* () {
        yield split.subarray(0, i);
        yield split.subarray(i);
      })();
      for await (const batch of readPrints(halves, NOW_MS)) expect([i, ...batch.prints]).toEqual([i, ...prints]);
    }
    const turned = text
      .replaceAll('"{floor,sweep}"', '{sweep|floor}')
      .split('\n')
      .map((line) => line.split(',').reverse().join(','))
      .join('\n');
    const spellings: [string, string | Uint8Array][] = [
      ['CRLF', text.replaceAll('\n', '\r\n')],
      ['mark', `\ufeff${text}`],
      ['UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le')],
      ['title', `Tape of the day\n\n${text}`],
      ['blank lines', text.replaceAll('\n', '\n\n')],
      ['blank lines of CRLF', text.replaceAll('\n', '\r\n\r\n')],
      ['quotes', text.replaceAll(/(?<=^|,)([^",\n]+)(?=,|$)/gm, '"$1"')],
      ['tabs', text.replaceAll('"{floor,sweep}"', '{sweep|floor}').replaceAll(',', '\t')],
      ['reversed', turned],
    ];
    for (const [name, spelled] of spellings) {
      for (const size of [1, 7, 1e9]) {
        const { prints: same, refused } = await read(spelled, size);
        expect([name, same, refused]).toEqual([name, prints, {}]);
      }
    }
  });

  test('accepts lines that end with returns alone, in pieces of any size', async () => {
    const { prints } = await read(tape(...rows));
    const text = tape(...rows).replaceAll('\n', '\r');
    for (const size of [1, 2, 7, 1_000]) expect((await read(text, size)).prints).toEqual(prints);
  });

  test('cut anywhere: reads the complete rows, and guesses nothing about the last row', async () => {
    const text = tape(...rows);
    const { prints } = await read(text);
    const from = text.indexOf('\n') + 1;
    for (let end = from; end < text.length; end++) {
      const cut = text.slice(0, end);
      const rest = cut.slice(cut.lastIndexOf('\n') + 1);
      const read_ = await read(cut);
      const whole = cut.split('\n').length - 2 + (rest.endsWith('auto') ? 1 : 0);
      expect([end, read_.prints]).toEqual([end, prints.slice(0, whole)]);
      expect(read_.refused).toEqual(rest === '' || rest.endsWith('auto') ? {} : { cut_row: 1 });
    }
  });

  test('refuses a last row without a line break if its last cell may be incomplete', async () => {
    const ending = (column: string, value: string) => tape({ [column]: value, ...ROW }).trimEnd();
    const last = (name: string) => {
      const { [name]: cell = '', ...others } = ROW as Record<string, string>;
      return `${Object.keys(others)},${name}\n${Object.values(others)},${cell}`;
    };
    expect((await read(last('size'))).refused).toEqual({ cut_row: 1 });
    expect((await read(last('premium'))).prints).toHaveLength(1);
    expect((await read(ending('sector', 'Tech'))).prints).toHaveLength(1);
  });

  test.each([
    ['no header', 'a,b\n1,2\n', /no header/],
    ['empty', '', /no header/],
    ['no price column', 'executed_at,option_chain_id,size\n', /has no column price/],
    ['no contract columns', 'executed_at,underlying_symbol,price,size\n', /has no column expiry, option_type, strike/],
    ['a column named twice', 'executed_at,option_chain_id,price,size,price\n', /price is named twice/],
    ['an endless line', `executed_at,option_chain_id,price,size\n${'x'.repeat(2 ** 21)}`, /a line has more than/],
    ['binary data', 'executed_at\0', /not text/],
  ])('throws if the text is not a tape: %s', async (_name, text, reason) => {
    await expect(read(text)).rejects.toThrow(reason);
  });

  test('a tape with only a header has no prints, and is valid', async () => {
    expect(await read(tape({}).split('\n')[0]!)).toMatchObject({ prints: [], refused: {}, batches: { length: 1 } });
  });
});

test('reads 200,000 rows in batches, without loss and without holding them all', async () => {
  const rows = 200_000;
  const [header] = tape({}).split('\n');
  async function* generated(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${header}\n`);
    for (let i = 0; i < rows; i += 1000) {
      const lines = Array.from({ length: 1000 }, (_, row) => {
        const second = new Date(Date.UTC(2026, 7, 17, 13, 30) + (i + row) * 100).toISOString();
        const size = (i + row) % 50 === 49 ? 0 : 1;
        return `${second},SPXW,SPXW260821C05000000,ask,5000,call,2026-08-21,,,,25,${size},,,,,,XCBO,{},f,auto`;
      });
      yield Buffer.from(`${lines.join('\n')}\n`);
    }
  }
  const seen = new Set<string>();
  let refused = 0;
  let largest = 0;
  for await (const batch of readPrints(generated(), NOW_MS)) {
    for (const { id } of batch.prints) seen.add(id);
    refused += batch.refused?.bad_size ?? 0;
    largest = Math.max(largest, batch.prints.length);
  }
  expect([seen.size, refused]).toEqual([rows * 0.98, rows * 0.02]);
  // A batch ends with the piece of input that fills it.
  expect(largest).toBeLessThan(11_000);
});

test('other work runs between many short rows of one piece', async () => {
  const piece = Buffer.from(`executed_at,option_chain_id,price,size\n${'"a,\n'.repeat(600_000)}`);
  let turns = 0;
  let isReading = true;
  const turn = () => {
    turns++;
    if (isReading) setImmediate(turn);
  };
  setImmediate(turn);
  const refused: Record<string, number> = {};
  const pieces = (async function* () {
    yield piece;
  })();
  for await (const each of readPrints(pieces, NOW_MS)) Object.assign(refused, each.refused);
  isReading = false;
  expect(refused.malformed_row).toBe(600_000);
  expect(turns).toBeGreaterThan(3);
});

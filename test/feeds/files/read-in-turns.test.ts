import { expect, test } from 'bun:test';
import { runInTurns, runToCompletion } from '../../../src/core/steps.ts';
import { STEP_ROWS } from '../../../src/feeds/files/format.ts';
import { readMarketFile } from '../../../src/feeds/files/read-market-file.ts';
import type { Delivery } from '../../../src/market/feed.ts';

const FACTS = { origin: 'a.csv', stated: { asOf: Date.UTC(2026, 7, 21) } };

/** Returns a chain table with this many contracts. */
function table(contracts: number): Uint8Array {
  const rows = Array.from({ length: contracts }, (_, i) => `AAA,100,2026-09-18,C,${1 + i / 10},1,2,${contracts + i}`);
  return new TextEncoder().encode(`underlying,spot,expiry,put_call,strike,bid,ask,open_interest\n${rows.join('\n')}\n`);
}

/** Returns the same contracts in the exchange's format. */
function answer(contracts: number): Uint8Array {
  const options = Array.from({ length: contracts }, (_, i) => ({
    ...{ option: `AAA260918C${String(1_000 + 100 * i).padStart(8, '0')}`, bid: 1, ask: 2, open_interest: 10 },
  }));
  const data = { current_price: 100, last_trade_time: '2026-08-21T16:00:00', options };
  return new TextEncoder().encode(JSON.stringify({ timestamp: '2026-08-21 20:15:00', data }));
}

test.each([
  ['a chain table', table],
  ['delayed quotes', answer],
])('reads %s in pieces, with the same result as at once', async (_name, write) => {
  const contracts = 3 * STEP_ROWS;
  const whole = runToCompletion(readMarketFile(write(contracts), FACTS));
  expect(whole).toMatchObject([{ kind: 'chain', chain: { count: contracts } }]);
  let turns = 0;
  const turn = () => {
    turns++;
    timer = setImmediate(turn);
  };
  let timer = setImmediate(turn);
  const inPieces = await runInTurns('reading', readMarketFile(write(contracts), FACTS));
  // As text: NaN is not equal to itself.
  expect(JSON.stringify(inPieces)).toBe(JSON.stringify(whole));
  clearImmediate(timer);
  expect(turns).toBeGreaterThan(3);
});

test('tables that are read at the same time do not mix, whatever their sizes', () => {
  const sizes = [9_000, 2_500, 20_000];
  const readers = sizes.map((contracts) => readMarketFile(table(contracts), FACTS));
  const results: (Delivery[] | undefined)[] = readers.map(() => undefined);
  while (results.includes(undefined)) {
    for (const [i, reader] of readers.entries()) {
      const next = reader.next();
      if (next.done) results[i] ??= next.value;
    }
  }
  for (const [i, contracts] of sizes.entries()) {
    const numbers = Array.from({ length: contracts }, (_, row) => row);
    const strike = Float64Array.from(numbers, (row) => 1 + row / 10);
    const openInterest = Float64Array.from(numbers, (row) => contracts + row);
    expect(results[i]).toMatchObject([{ kind: 'chain', chain: { count: contracts, strike, openInterest } }]);
  }
});

const HEADER = 'underlying,spot,symbol,open_interest';
const MEGABYTE = 2 ** 20;
/** Returns a text with the header and 3 MiB of the given rows. */
const repeated = (rows: string) => Buffer.from(`${HEADER}\n${rows.repeat((3 * MEGABYTE) / Buffer.byteLength(rows))}`);

test.each([
  ['empty rows', Buffer.from(`${HEADER}\n${'\n'.repeat(499_000)}`)],
  ['rows of spaces', Buffer.from(`${HEADER}\n${' \n'.repeat(240_000)}`)],
  ['rows of 60,000 cells', repeated(`${','.repeat(60_000)}\n`)],
  ['cells of doubled quotes', repeated(`"${'""'.repeat(30_000)}"\n`)],
  ['cells of lone quotes', repeated(`"${'"x'.repeat(30_000)}"\n`)],
  ['rows of quotes', repeated('"",""\n')],
  ['rows of 16 lines', repeated(`"${'x\n'.repeat(15)}"\n`)],
])('reads %s in many steps, none of which takes most of the time', (_name, bytes) => {
  const steps = readMarketFile(bytes, FACTS);
  const cpu = () => process.cpuUsage().user + process.cpuUsage().system;
  const taken: number[] = [];
  for (let before = cpu(), isDone = false; !isDone; before = cpu()) {
    isDone = steps.next().done === true;
    taken.push(cpu() - before);
  }
  expect(taken.length).toBeGreaterThan(5);
  // A machine that is busy with other work shows longer steps, so the bound is relative.
  expect(Math.max(...taken)).toBeLessThan(25_000 + taken.reduce((sum, each) => sum + each, 0) / 2);
});

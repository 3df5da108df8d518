import { expect, test } from 'bun:test';
import { measureTape } from '../../bench/packed-tape.ts';
import { PROGRAM } from '../support/process.ts';
import { IS_FULL } from '../support/size.ts';

/** Uses real processes: `zomma ingest` packs a tape, and another service reads the same tape as rows. Both get the same requests. */
const ROWS = IS_FULL ? 120_000 : 20_000;
const ROUNDS = IS_FULL ? 3 : 1;
/** A short tape shares the pages of the database's other tables among fewer prints. */
const BYTES_PER_PRINT_MAX = IS_FULL ? 28 : 34;

test('a tape in columns is small and gives exactly the same answers as its rows', async () => {
  const packed = await measureTape(ROWS, ROUNDS, { command: PROGRAM });
  expect(packed.kept).toBe(ROWS);
  expect(packed.bytesPerPrint).toBeLessThan(BYTES_PER_PRINT_MAX);
  const rows = await measureTape(ROWS, ROUNDS, { how: 'rows', command: PROGRAM });
  for (const [i, { path, body }] of packed.questions.entries()) {
    expect([path, withoutProvenance(body)]).toEqual([path, withoutProvenance(rows.questions[i]!.body)]);
  }
  const [flow, prints] = packed.questions.map(({ body }) => body as Record<string, Record<string, number[]>>);
  expect(flow!.by_manner!.prints!.at(-1)).toBe(ROWS);
  expect(prints!.of as unknown).toBe(ROWS);
}, 240_000);

/** Removes the provenance, which has a changing age and a different source. */
function withoutProvenance(body: unknown): unknown {
  const { provenance, ...rest } = body as Record<string, unknown>;
  return rest;
}

import { expect, test } from 'bun:test';
import { measureTape } from '../../bench/packed-tape.ts';

/** Real processes: `zomma ingest` packs a tape that the service of the other folder reads as rows; both are asked the same. */
const ROWS = 120_000;

test('a tape in columns is small, and answers as its rows do, to the digit', async () => {
  const packed = await measureTape(ROWS, 3);
  expect(packed.kept).toBe(ROWS);
  expect(packed.bytesPerPrint).toBeLessThan(28);
  const rows = await measureTape(ROWS, 3, { how: 'rows' });
  for (const [at, { path, body }] of packed.questions.entries()) {
    expect([path, told(body)]).toEqual([path, told(rows.questions[at]!.body)]);
  }
  const [flow, prints] = packed.questions.map(({ body }) => body as Record<string, Record<string, number[]>>);
  expect(flow!.by_manner!.prints!.at(-1)).toBe(ROWS);
  expect(prints!.of as unknown).toBe(ROWS);
}, 60_000);

/** Ages go on, and the way it came is told. */
function told(body: unknown): unknown {
  const { provenance, ...rest } = body as Record<string, unknown>;
  return rest;
}

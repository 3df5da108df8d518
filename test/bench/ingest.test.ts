import { expect, test } from 'bun:test';
import { ingestTables } from '../../bench/ingest.ts';

test('writes, loads and reports a short tape, and each stage of a recorded chain if one is available', async () => {
  const lines = await ingestTables(1_000, { rounds: 1, sliceMs: 0.1 });
  const tapes = lines.filter((line) => /^\| (?:1|4),000 \| [\d,]+ \| [\d.e+]+ \| \d+ \|$/.test(line));
  expect(tapes).toHaveLength(2);
  const stages = lines.filter((line) => /^\| [^|]+ \| [\d.e+-]+ \| [\d.e+-]+ \|$/.test(line));
  expect(stages).toHaveLength(process.env.ZOMMA_RECORDED_CHAINS === undefined ? 0 : 9);
  // One short round is not enough to judge a target.
  expect(lines.filter((line) => /: (?:reached|missed)$/.test(line))).toEqual([]);
});

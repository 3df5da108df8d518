import { expect, test } from 'bun:test';
import { ingestTables } from '../../bench/ingest.ts';

test('a short tape is made, loaded whole and told, and so is each stage of the chain where it is here', async () => {
  const lines = await ingestTables(1_000, { rounds: 1, sliceMs: 0.1 });
  const tapes = lines.filter((line) => /^\| (?:1|4),000 \| [\d,]+ \| [\d.e+]+ \| \d+ \|$/.test(line));
  expect(tapes).toHaveLength(2);
  const stages = lines.filter((line) => /^\| [^|]+ \| [\d.e+-]+ \| [\d.e+-]+ \|$/.test(line));
  expect(stages).toHaveLength(process.env.ZOMMA_RECORDED_CHAINS === undefined ? 0 : 9);
  // One short round measures nothing.
  expect(lines.filter((line) => /: (?:reached|missed)$/.test(line))).toEqual([]);
});

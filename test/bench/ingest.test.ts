import { expect, test } from 'bun:test';
import { ingestTable } from '../../bench/ingest.ts';
import { measureTapes, sectionOf } from '../../bench/tape-ingest.ts';
import { FROM_SOURCE } from '../support/process.ts';

test('reports each stage of a recorded chain if one is available', () => {
  const lines = ingestTable({ rounds: 1, sliceMs: 0.1 });
  const stages = lines.filter((line) =>
    /^\| [^|]+ \| [\d.e+-]+ \([\d.e+-]+ to [\d.e+-]+\) \| [\d.e+-]+ \|$/.test(line),
  );
  expect(stages).toHaveLength(process.env.ZOMMA_RECORDED_CHAINS === undefined ? 0 : 9);
  // One short round is not enough to judge a target.
  expect(lines.filter((line) => /: (?:reached|missed)$/.test(line))).toEqual([]);
});

test('loads short tapes, one of them onto a day that has prints', async () => {
  const options = { rows: 1_000, rounds: 1 };
  const figures = await measureTapes(FROM_SOURCE, options);
  expect([figures.longMs, figures.ontoMs, figures.peaks[1]].every((each) => each > 0)).toBe(true);
  const section = sectionOf(figures, options);
  expect(section).toMatch(/\| `zomma ingest`, 4,000 rows \| [\d.e+]+ \| \d+ \|/);
  // A short tape is not enough to judge a target.
  expect(section).not.toMatch(/: (?:reached|missed)/);
}, 120_000);

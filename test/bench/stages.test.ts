import { expect, test } from 'bun:test';
import { stageTables } from '../../bench/stages.ts';

test('reports a time for every stage of a small chain, the total first', () => {
  const lines = stageTables(64, { rounds: 1, sliceMs: 0.1 });
  const rows = lines.filter((line) => /^\| \S.* \| [\d.e+-]+ \([\d.e+-]+ to [\d.e+-]+\) \| [\d.e+]+ % \|$/.test(line));
  expect(rows[0]).toStartWith('| **from columns to all levels** | ');
  const chains = lines.filter((line) => line.startsWith('## Stages'));
  expect(rows).toHaveLength(10 * chains.length);
  expect(chains[0]).toMatch(/: [\d,]+ contracts in 8 series$/);
  // One short round is not enough to judge a target.
  expect(lines.filter((line) => line.startsWith('- all levels'))).toEqual(
    chains.map(() => '- all levels within 15 ms: not measured'),
  );
  expect(lines.filter((line) => line.startsWith('- volatility surface'))).toEqual(
    [80, 25].slice(0, chains.length).map((ms) => `- volatility surface within ${ms} ms: not measured`),
  );
});

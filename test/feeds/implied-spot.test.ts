import { expect, test } from 'bun:test';
import { runToCompletion } from '../../src/core/steps.ts';
import { readMarketFile } from '../../src/feeds/files/read-market-file.ts';

const reasonFor = (columns: string, rows: readonly string[]) => {
  const head = `underlying,as_of,expiry,put_call,strike,open_interest${columns}`;
  const lines = rows.map((row) => `ABC,2026-08-21T20:00:00Z,${row}`);
  const text = [head, ...lines].join('\n');
  const [delivery] = runToCompletion(readMarketFile(Buffer.from(`${text}\n`), { origin: 'a.csv' }));
  return delivery?.kind === 'rejection' ? delivery.reason : delivery?.kind;
};

test.each<[string, string, string[], string]>([
  ['a column of bids', ',ask', ['2026-09-18,C,100,1,2', '2026-09-18,P,100,1,2'], 'the column of bids is missing'],
  ['bids', ',bid,ask', ['2026-09-18,C,100,1,0,2', '2026-09-18,P,100,1,0,2'], 'or has no bid above 0'],
  ['asks', ',bid,ask', ['2026-09-18,C,100,1,2,', '2026-09-18,P,100,1,2,'], 'the column of asks is missing'],
  ['puts', ',bid,ask', ['2026-09-18,C,100,1,2,3', '2026-09-18,C,110,1,2,3'], 'it has only calls'],
  ['pairs', ',bid,ask', ['2026-09-18,C,100,1,2,3', '2026-09-18,P,110,1,2,3'], 'at no strike, the call and the put'],
])('a chain without a spot and %s says why it has none', (_what, columns, rows, reason) => {
  expect(reasonFor(columns, rows)).toStartWith('ABC: spot is not given, and the quotes imply none: ');
  expect(reasonFor(columns, rows)).toContain(reason);
});

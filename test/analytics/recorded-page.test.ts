import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { PAGE, recordedPage } from '../fixtures/recorded-table.ts';
import { describeRecorded } from '../support/recorded-chains.ts';

describeRecorded('docs/recorded-chains.md', (dir) => {
  test('says what the analysis says now (bun test/fixtures/recorded-table.ts --write)', () => {
    expect(readFileSync(PAGE, 'utf8')).toBe(recordedPage(dir));
  });
});

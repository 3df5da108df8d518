import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { METHODS_PAGE, recordedPage } from '../../scripts/recorded-table.ts';
import { describeRecorded } from '../support/recorded-chains.ts';

describeRecorded('the recorded chains in docs/methods/recorded.md', (dir) => {
  test('equals the current output of the analysis (bun run gen)', () => {
    expect(readFileSync(METHODS_PAGE, 'utf8')).toBe(recordedPage(dir));
  });
});

import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { PAGE, renewedPage } from '../fixtures/recorded-table.ts';
import { describeRecorded } from '../support/recorded-chains.ts';

describeRecorded('the recorded chains in docs/methods.md', (dir) => {
  test('equals the current output of the analysis (bun test/fixtures/recorded-table.ts --write)', () => {
    expect(readFileSync(PAGE, 'utf8')).toBe(renewedPage(dir));
  });
});

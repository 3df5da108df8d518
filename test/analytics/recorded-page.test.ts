import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { figuresBefore, lawFigures } from '../../scripts/law-figures.ts';
import { METHODS_PAGE, recordedPage } from '../../scripts/recorded-table.ts';
import { describeRecorded } from '../support/recorded-chains.ts';
import { recordedChain, recordedNames } from './recorded.ts';

describeRecorded('the recorded chains in docs/methods/recorded.md', (dir) => {
  test('equals the current output of the analysis (bun run gen)', () => {
    expect(readFileSync(METHODS_PAGE, 'utf8')).toBe(recordedPage(dir));
  });
});

describeRecorded('levels of version 0.2.0', (dir) => {
  test.each(recordedNames(dir))(
    'of %s are equal to the digit, by default and with the volatilities of the feed',
    (name) => {
      const { levels, feed } = lawFigures(recordedChain(dir, name));
      expect({ levels, feed }).toEqual((({ levels, feed }) => ({ levels, feed }))(figuresBefore()[name]!));
    },
  );
});

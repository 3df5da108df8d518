import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXAMPLES_FOLDER, examplePages } from '../../scripts/examples.ts';
import { TOOLS } from '../../src/operations/registry.ts';
import { describeRecorded } from '../support/recorded-chains.ts';

describeRecorded('the pages of docs/examples', (dir) => {
  const pages = examplePages(dir);

  test('the documented examples equal the current answers (bun run gen)', () => {
    expect(readdirSync(EXAMPLES_FOLDER).sort()).toEqual([...pages.keys()].sort());
    for (const [file, text] of pages) expect(readFileSync(join(EXAMPLES_FOLDER, file), 'utf8')).toBe(text);
  });

  test('the examples call every tool', () => {
    for (const [file, text] of pages) {
      if (file === 'README.md') continue;
      expect(TOOLS.filter(({ name }) => !text.includes(`zomma call ${name} '`))).toEqual([]);
      expect(text).not.toMatch(/NaN|undefined|Infinity/);
    }
  });
});

import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PROVIDERS } from '../../src/server/create-feeds.ts';
import { SETTINGS } from '../../src/settings/config.ts';

const ROOT = resolve(import.meta.dir, '../..');

/** Returns the rows of the tables of a page that begin with a text. */
function rows(path: string, start: string): string {
  const lines = readFileSync(join(ROOT, path), 'utf8').split('\n');
  return lines.filter((line) => line.startsWith(`| ${start}`)).join('\n');
}

test.each(Object.keys(PROVIDERS))('the provider %s has its tests, its help and its documentation', (name) => {
  const path = `test/feeds/${name}/${name}-feed.test.ts`;
  const suite = existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : '';
  expect(suite, `${path} calls describeProvider for ${name}`).toMatch(
    new RegExp(`^describeProvider\\(\\{\\s*name: '${name}',$`, 'm'),
  );
  const quoted = `\`${name}\``;
  expect(SETTINGS.feed.help, `the help of --feed names ${name}`).toMatch(new RegExp(`\\b${name}\\b`));
  expect(rows('docs/providers.md', quoted), `docs/providers.md has a row of ${name}`).not.toBeEmpty();
  expect(rows('docs/architecture.md', '`src/feeds/files`'), `the row of feeds of docs/architecture.md`).toContain(
    quoted,
  );
  expect(rows('CONTRIBUTING.md', 'feed |'), `the glossary of CONTRIBUTING.md, row "feed"`).toContain(quoted);
});

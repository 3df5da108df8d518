import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PROVIDERS } from '../../src/server/create-feeds.ts';
import { SETTINGS } from '../../src/settings/config.ts';

const ROOT = resolve(import.meta.dir, '../..');

const page = (path: string) => (existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : '');

/** Returns whether a page has a row of a table that begins with a text and contains a name. */
function hasRow(path: string, start: string, name: string): boolean {
  return page(path)
    .split('\n')
    .some((line) => line.startsWith(`| ${start}`) && line.includes(`\`${name}\``));
}

/** What each provider has, and whether it does. */
const PARTS: Readonly<Record<string, (name: string) => boolean>> = {
  'a call of describeProvider in test/feeds/NAME/NAME-feed.test.ts': (name) =>
    new RegExp(`^describeProvider\\(\\{\\s*name: '${name}',$`, 'm').test(
      page(`test/feeds/${name}/${name}-feed.test.ts`),
    ),
  'its name in the help of --feed': (name) => new RegExp(`\\b${name}\\b`).test(SETTINGS.feed.help),
  'a row in a table of docs/providers.md': (name) => hasRow('docs/providers.md', `\`${name}\``, name),
  'its name in the row of feeds of docs/architecture.md': (name) =>
    hasRow('docs/architecture.md', '`src/feeds/files`', name),
  'its name in the row "feed" of the glossary of CONTRIBUTING.md': (name) => hasRow('CONTRIBUTING.md', 'feed |', name),
};

test.each(Object.keys(PROVIDERS))('the provider %s lacks nothing', (name) => {
  const missing = Object.entries(PARTS).filter(([, has]) => !has(name));
  expect(missing.map(([part]) => `${name} lacks ${part.replaceAll('NAME', name)}`)).toEqual([]);
});

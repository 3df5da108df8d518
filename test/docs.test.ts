import { expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { TOOLS } from '../src/operations/registry.ts';
import { parseMarkdown, sectionOf } from '../web/markdown/markdown-page.ts';

/** The documentation matches the code. */
const ROOT = resolve(import.meta.dir, '..');
const page = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const METHODS = parseMarkdown(page('docs/methods.md'));

test.each(TOOLS.map(({ name, tool }) => [name, tool!.method] as const))(
  'docs/methods.md describes the answer of %s',
  (name, method) => {
    const section = JSON.stringify(sectionOf(METHODS, method));
    expect(section, `docs/methods.md lacks a section #${method} that names ${name}`).toContain(name);
  },
);

test('the threat model names only source files that exist', () => {
  const named = [...page('docs/threat-model.md').matchAll(/`(src\/[^`]+)`/g)].map(([, path]) => path!);
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test('links between the pages lead to files that exist', () => {
  const pages = [
    'README.md',
    'SECURITY.md',
    ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .map((file) => `docs/${file}`),
  ];
  const broken = pages.flatMap((path) =>
    [...page(path).matchAll(/\]\((?!https?:)([^)#]+)/g)]
      .map(([, target]) => join(ROOT, dirname(path), target!))
      .filter((target) => !existsSync(target))
      .map((target) => `${path}: ${target}`),
  );
  expect(broken).toEqual([]);
});

import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

// Holds the code and the documentation to the parts of CONTRIBUTING.md that a program can check.

const ROOT = resolve(import.meta.dir, '..');

/** Phrases of the project's former dialect, with what to write instead. Matched in comments of the code and in the documentation. */
const BARRED_PHRASES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\bsigns? of life\b/i, 'liveness'],
  [/\bkept answers?\b/i, 'response cache'],
  [/\bheld streams?\b/i, 'guarded stream'],
  [/\bwhere there (?:is|are) none\b/i, 'if there is none'],
  [/\bnone (?:to read|of that) so\b/i, 'name the condition'],
  [/\bwhat is told\b/i, 'what is reported'],
  [/\b(?:is|are) told (?:of|by|so)\b/i, 'is reported'],
  [/\bhears? of\b/i, 'receives'],
  [/\b(?:whence|thereof|therein|hence|thereby|wherein)\b/i, 'a plain sentence'],
  [/\bhomeless\b/i, 'without a layer'],
  [/\bcomposition of the house\b|\bthe house\b/i, 'the architecture'],
  [/\ba defect of ours\b/i, 'an internal error'],
  [/\bthat it deserves\b/i, 'name the error'],
  [/\bis worth a word\b/i, 'is noted'],
  [/\bfor good\b/i, 'permanently'],
  [/\bgoes? through all that\b/i, 'reads all'],
];

const PAGES = ['README.md', 'SECURITY.md', ...['docs', 'docs/methods', 'docs/decisions'].flatMap(pagesIn)];

/** Names that the style page replaces by standard terms. Matched in the code, without its comments. */
const BARRED_NAMES: readonly (readonly [name: RegExp, instead: string])[] = [
  [/\b(?!Tape|Summed)[A-Z]\w*Parts\b/, '*Deps for injected parts'],
  [/\bFailure\b|\bFault\b/, 'ClientError, FieldError'],
  [/\bHouse[A-Z]/, 'what the code shows'],
  [/\bStreamWatch\b|\bSignsOfLife\b|\bKeptAnswers\b|\bHeldStream\b/, 'the standard term'],
];

/** Where the server and the page start. Only these two files have the same name. */
const ENTRIES = ['src/main.ts', 'web/main.tsx'];

test('exported names are unique in src and web', () => {
  const files = new Map<string, string[]>();
  for (const file of sourceFiles()) {
    const exported =
      /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm;
    const names = new Set([...read(file).matchAll(exported)].map(([, name]) => name!));
    for (const name of names) files.set(name, [...(files.get(name) ?? []), file]);
  }
  expect(files.size).toBeGreaterThan(500);
  expect([...files].filter(([, places]) => places.length > 1)).toEqual([]);
});

test('file names are unique in src and web, whatever their extension', () => {
  const byName = Map.groupBy(
    sourceFiles().filter((file) => !ENTRIES.includes(file)),
    (file) => basename(file).split('.', 1)[0],
  );
  expect(byName.size).toBeGreaterThan(500);
  expect([...byName.values()].filter((files) => files.length > 1)).toEqual([]);
});

test.each(BARRED_NAMES)('no exported name is like %p', (name, instead) => {
  const found = sourceFiles().flatMap((file) =>
    linesWith(file, read(file), name).filter((line) => /: (?:export|import) /.test(line)),
  );
  expect({ instead, found }).toEqual({ instead, found: [] });
});

test.each(BARRED_PHRASES)('no comment and no page says %p', (phrase, instead) => {
  const found = [
    ...sourceFiles().flatMap((file) => linesWith(file, commentsOf(read(file)), phrase)),
    ...PAGES.flatMap((page) => linesWith(page, read(page), phrase)),
  ];
  expect({ instead, found }).toEqual({ instead, found: [] });
});

test('the glossary has at most 40 terms, each once, in alphabetical order', () => {
  const glossary = read('CONTRIBUTING.md').split('## Glossary')[1]!.split('\n## ')[0]!;
  const terms = [...glossary.matchAll(/^\| ([a-z][\w ]*) \| /gm)]
    .map(([, term]) => term!)
    .filter((term) => term !== 'term');
  expect(terms.length).toBeGreaterThan(20);
  expect(terms.length).toBeLessThanOrEqual(40);
  expect(terms).toEqual([...new Set(terms)].toSorted());
});

/** The text with everything but its comments blanked out; lines stay where they are. */
function commentsOf(code: string): string {
  let inBlock = false;
  return code
    .split('\n')
    .map((line) => {
      const trimmed = line.trim();
      if (inBlock || /^\{?\/\*/.test(trimmed)) {
        inBlock = !trimmed.includes('*/');
        return line;
      }
      return /(?:^|\s)\/\/ (.*)$/.exec(line)?.[0] ?? '';
    })
    .join('\n');
}

function linesWith(file: string, text: string, phrase: RegExp): string[] {
  return text.split('\n').flatMap((line, row) => (phrase.test(line) ? [`${file}:${row + 1}: ${line.trim()}`] : []));
}

function sourceFiles(): string[] {
  return ['src', 'web'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /^(?!node_modules).*(?<!\.d)\.tsx?$/.test(file))
      .map((file) => `${folder}/${file}`),
  );
}

function pagesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `${folder}/${file}`);
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

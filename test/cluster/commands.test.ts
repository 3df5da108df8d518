import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.ts';
import type { Ports } from '../../src/server/cli-ports.ts';
import { ROOT } from '../support/process.ts';
import { SharedStoreUsers } from '../support/shared-store.ts';
import { testFolder } from '../support/test-folder.ts';
import { KINDS, type Kind, type Named, namesWith } from './command-kinds.ts';

/** What commands say about `--store` before they open any data. */
const at = testFolder();
const users = new SharedStoreUsers({ address: '127.0.0.1:1' });

const all = await createProgram({} as Ports, undefined);
const namesOf = ({ commands }: Pick<Command, 'commands'>): string[] => [
  '',
  ...commands.flatMap((each) => namesOf(each).map((name) => `${each.name()} ${name}`.trim())),
];
test('the table has every command, and no other', () => {
  const withoutFlags = Object.keys(KINDS).filter((name) => !name.includes(' --'));
  expect(withoutFlags.toSorted()).toEqual(namesOf(all).toSorted());
});

test('every command that has to do with stored data takes --store', () => {
  const takes = (name: string) => {
    let command: Command = all;
    for (const word of name.split(' ').filter((each) => each !== '' && !each.startsWith('--')))
      command = command.commands.find((each) => each.name() === word)!;
    return command.options.some(({ long }) => long === '--store');
  };
  const names = namesWith('server', 'write', 'copy', 'compact', 'check', 'refused');
  expect(names.filter((name) => !takes(name))).toEqual([]);
  expect(namesWith('same').filter(takes)).toEqual(['connect', 'config show', 'config check']);
});

test('the page on scaling says the same', () => {
  const [, section] = readFileSync(join(ROOT, 'docs/scaling.md'), 'utf8').split('### Commands with `--store`');
  const rows = [...section!.matchAll(/^\| (`.*?) \| (.*) \|$/gm)].map(([, names, text]) => ({
    names: [...names!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
    text: text!,
  }));
  const BEGINNINGS: readonly (readonly [kind: Kind, beginning: string])[] = [
    ['server', 'shares the database'],
    ['write', 'write into the database'],
    ['compact', 'removes the data'],
    ['copy', 'read the copy'],
    ['check', 'checks the copy'],
    ['refused', 'are refused'],
    ['migration', 'names the database itself'],
    ['same', 'are the same'],
  ];
  for (const [kind, beginning] of BEGINNINGS) {
    const { names } = rows.find(({ text }) => text.startsWith(beginning))!;
    expect([kind, names.toSorted()]).toEqual([kind, namesWith(kind).toSorted()]);
  }
  expect(rows).toHaveLength(BEGINNINGS.length);
});

const SENTENCE = /^zomma: \S[^\n]*\n {2}[A-Z`][^\n]*\.\n$/;

const REFUSED: Readonly<Record<Named<'refused'>, () => string[]>> = {
  start: () => ['start', '--port', '0'],
  'mcp --feed': () => ['mcp', '--feed', 'simulated'],
  backup: () => ['backup', at('backup')],
  'backup verify': () => ['backup', 'verify', at('backup')],
  restore: () => ['restore', at('backup')],
  upgrade: () => ['upgrade', '--back'],
};

for (const [name, args] of Object.entries(REFUSED)) {
  test(`${name} is refused with a sentence`, async () => {
    mkdirSync(at('a'));
    for (const dataDir of [at('a'), at('none')]) {
      const { code, stdout, stderr } = await users.command(dataDir, args());
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(SENTENCE);
      expect(stderr).toStartWith(`zomma: \`zomma ${name}\` is for a server alone, and --store names a database`);
    }
    expect([at('backup'), at('none')].filter(existsSync)).toEqual([]);
  });
}

test('connect names the database, so that its client reads the copy', async () => {
  const { stdout } = await users.command(at('a'), ['connect', 'cursor', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({
    mcpServers: { zomma: { args: expect.arrayContaining(['mcp', '--data-dir', at('a'), '--store', users.store]) } },
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientUnderTest } from './client.ts';
import type { Seen } from './steps.ts';
import type { Exchange } from './wire.ts';

/** The results of a client, by step. */
export interface Row {
  readonly client: ClientUnderTest;
  readonly steps: Readonly<Record<string, Seen>>;
  /** The requests that it sent to connect and to list the tools. */
  readonly exchange: Exchange;
}

/** The table of the page: the results of each client. */
export function resultsOf(rows: readonly Row[], node: string): string {
  const titles = Object.keys(rows[0]?.steps ?? {});
  return [
    `Bun ${Bun.version}, Node ${node}. Made by \`bun run test:clients --write\`.`,
    '',
    ...markdown(
      ['client', 'version', 'run by', 'transport', ...titles],
      rows.map(({ client, steps }) => [
        nameOf(client),
        versionOf(client),
        client.runtime,
        client.transport,
        ...titles.map((title) => cell(steps[title]!)),
      ]),
    ),
  ].join('\n');
}

/** The requests of each client, and the errors that its user sees. `bun run test:clients` prints them. */
export function requestsOf(rows: readonly Row[]): string {
  return markdown(
    [
      'client',
      'transport',
      'requests',
      'protocol version',
      'key in',
      'error for a wrong key',
      'errors before the recovery',
    ],
    rows
      .filter(({ exchange }) => exchange.requests.length > 0)
      .map(({ client, steps, exchange }) => [
        `${nameOf(client)} ${versionOf(client)}`,
        client.transport,
        code(exchange.requests),
        exchange.versions.join(', '),
        code(exchange.keys),
        steps['wrong key']?.said ?? '',
        [...new Set(['connection cut', 'server restarted'].flatMap((title) => steps[title]?.said ?? []))].join(' / '),
      ]),
  ).join('\n');
}

export function nameOf({ packageName, mode }: ClientUnderTest): string {
  return `\`${packageName}\`${mode ? `, ${mode}` : ''}`;
}

function cell({ verdict, said }: Seen): string {
  return verdict === 'fails' ? `**fails**: ${said}` : verdict;
}

function versionOf({ packageName, installedAs = packageName }: ClientUnderTest): string {
  return JSON.parse(readFileSync(join(import.meta.dir, 'node_modules', installedAs, 'package.json'), 'utf8')).version;
}

function code(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}

function markdown(head: readonly string[], body: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...body.map(line)];
}

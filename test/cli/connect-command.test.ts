import { describe, expect, spyOn, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { parse } from 'smol-toml';
import { clientConfigs } from '../../scripts/client-configs.ts';
import { createProgram } from '../../src/cli/program.ts';
import { ownCommand } from '../../src/core/own-command.ts';
import { shellLine } from '../../src/core/shell-line.ts';
import type { Ports } from '../../src/server/cli-ports.ts';
import { servedForTests } from '../support/for-tests.ts';
import { cleanEnv, ROOT, run } from '../support/process.ts';
import { folderForTests } from '../support/test-folder.ts';

const { server, service } = servedForTests();
const folder = folderForTests();

/** Runs `zomma connect` in this process. Returns what it prints. */
async function connect(...args: string[]): Promise<string> {
  let shown = '';
  const written = spyOn(process.stdout, 'write').mockImplementation((text) => {
    shown += text;
    return true;
  });
  try {
    const program = await createProgram({} as Ports, 'connect');
    await program.parseAsync(['bun', 'zomma', 'connect', ...args]);
    return shown;
  } finally {
    written.mockRestore();
  }
}

const KEY = 'ZOMMA_ABCDEFGH12345678';
const REMOTE = ['--url', 'http://127.0.0.1:8080', '--key', KEY];
const LOCAL = ['--data-dir', 'my data'];
const [PROGRAM, ...SOURCES] = ownCommand();
const HEADERS = { 'X-API-Key': KEY };
const HTTP = { url: 'http://127.0.0.1:8080/mcp', headers: HEADERS };
const STDIO = { command: PROGRAM, args: [...SOURCES, 'mcp', '--data-dir', resolve('my data')] };
const BRIDGED = {
  ...{ command: PROGRAM, args: [...SOURCES, 'mcp', '--url', 'http://127.0.0.1:8080'] },
  env: { ZOMMA_KEY: KEY },
};
const START = shellLine(PROGRAM, ...STDIO.args);

interface Row {
  readonly remote: object;
  readonly local: object;
  /** The files that the text names, and the lines of both servers. */
  readonly files: readonly string[];
  readonly remoteLine?: string;
  readonly localLine?: string;
}

const CLIENTS: Readonly<Record<string, Row>> = {
  'claude-code': {
    remote: { mcpServers: { zomma: { type: 'http', ...HTTP } } },
    local: { mcpServers: { zomma: { type: 'stdio', ...STDIO } } },
    files: ['  macOS, Linux  ~/.claude.json\n', '  Windows       %USERPROFILE%\\.claude.json\n'],
    remoteLine: `claude mcp add --scope user --transport http zomma ${HTTP.url} --header "X-API-Key: ${KEY}"`,
    localLine: `claude mcp add --scope user zomma -- ${START}`,
  },
  'claude-desktop': {
    remote: { mcpServers: { zomma: BRIDGED } },
    local: { mcpServers: { zomma: STDIO } },
    files: [
      '  macOS         ~/Library/Application Support/Claude/claude_desktop_config.json\n',
      '  Linux         ~/.config/Claude/claude_desktop_config.json\n',
      '  Windows       %APPDATA%\\Claude\\claude_desktop_config.json\n',
    ],
  },
  cursor: {
    remote: { mcpServers: { zomma: HTTP } },
    local: { mcpServers: { zomma: STDIO } },
    files: ['  macOS, Linux  ~/.cursor/mcp.json\n', '  Windows       %USERPROFILE%\\.cursor\\mcp.json\n'],
  },
  vscode: {
    remote: { servers: { zomma: { type: 'http', ...HTTP } } },
    local: { servers: { zomma: { type: 'stdio', ...STDIO } } },
    files: [
      '  macOS         ~/Library/Application Support/Code/User/mcp.json\n',
      '  Linux         ~/.config/Code/User/mcp.json\n',
      '  Windows       %APPDATA%\\Code\\User\\mcp.json\n',
    ],
    remoteLine: `code --add-mcp '${JSON.stringify({ name: 'zomma', type: 'http', ...HTTP })}'`,
    localLine: `code --add-mcp '${JSON.stringify({ name: 'zomma', type: 'stdio', ...STDIO })}'`,
  },
  codex: {
    remote: { mcp_servers: { zomma: { url: HTTP.url, http_headers: HEADERS } } },
    local: { mcp_servers: { zomma: STDIO } },
    files: ['  macOS, Linux  ~/.codex/config.toml\n', '  Windows       %USERPROFILE%\\.codex\\config.toml\n'],
    localLine: `codex mcp add zomma -- ${START}`,
  },
};

/** The entry at the end of a text, which follows the last empty line before a bracket. */
function entryIn(text: string, client: string): unknown {
  const [, entry = ''] = /\n\n([[{][\s\S]*)$/.exec(text) ?? [];
  return client === 'codex' ? parse(entry) : JSON.parse(entry);
}

describe.each(Object.entries(CLIENTS))('%s', (client, { remote, local, files, remoteLine, localLine }) => {
  test.each([
    ['a running server', REMOTE, remote, remoteLine],
    ['the data of this machine', LOCAL, local, localLine],
  ])('connects to %s', async (_what, args, entry, line) => {
    const text = await connect(client, ...args);
    for (const file of files) expect(text).toContain(file);
    const lines = text.split('\n').filter((each) => /^ {2}(?:claude|code|codex) /.test(each));
    expect(lines).toEqual(line === undefined ? [] : [`  ${line}`]);
    expect(entryIn(text, client)).toEqual(entry);
    const json = await connect(client, ...args, '--json');
    expect(JSON.parse(json)).toEqual(entry as never);
    expect(json.trimEnd()).not.toContain('\n');
  });

  test('gets answers with its entry', async () => {
    const entries = [
      await connect(client, '--url', server.url, '--key', service.key, '--json'),
      await connect(client, '--data-dir', join(folder, 'none'), '--json'),
    ];
    for (const entry of entries) {
      const [form] = Object.values(JSON.parse(entry) as Record<string, { zomma: ServerEntry }>);
      await using own = await clientOf(form!.zomma);
      const answer = await own.client.callTool({ name: 'get_live_gex_nodes', arguments: { ticker: 'SPY' } });
      expect(answer.structuredContent).toMatchObject({ ticker: 'SPY' });
    }
  });
});

interface ServerEntry {
  readonly url?: string;
  readonly headers?: Record<string, string>;
  readonly http_headers?: Record<string, string>;
  readonly command: string;
  readonly args: string[];
  readonly env?: Record<string, string>;
}

/** Connects a client with an entry of a configuration. */
async function clientOf({ url, headers, http_headers, command, args, env }: ServerEntry) {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(
    url
      ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { ...headers, ...http_headers } } })
      : new StdioClientTransport({ command, args, env: { ...cleanEnv(), ...env }, stderr: 'ignore' }),
  );
  return { client, [Symbol.asyncDispose]: () => client.close() };
}

test.each([
  ['http://127.0.0.1:8080/mcp', 'http://127.0.0.1:8080/mcp'],
  ['https://example.com/zomma/', 'https://example.com/zomma/mcp'],
])('the server %s is at %s', async (url, address) => {
  const entry = JSON.parse(await connect('cursor', '--url', url, '--key', KEY, '--json'));
  expect(entry.mcpServers.zomma.url).toBe(address);
});

test('an entry for an encrypted tunnel keeps the permission', async () => {
  const args = ['--url', 'http://192.0.2.1:8080', '--key', KEY, '--insecure-http', '--json'];
  const { zomma } = JSON.parse(await connect('claude-desktop', ...args)).mcpServers;
  expect(zomma.args.slice(-3)).toEqual(['--url', 'http://192.0.2.1:8080', '--insecure-http']);
});

describe('refuses', () => {
  test.each([
    [['cursor', '--url', 'http://127.0.0.1:8080'], '--url needs an API key'],
    [['cursor', '--key', KEY], '--key needs --url'],
    [['cursor', '--url', 'http://192.0.2.1:8080', '--key', KEY], 'the API key would cross the network in the clear'],
    [['cursor', '--url', 'example', '--key', KEY], '"example" is not the address of a server'],
    [['zed'], 'Allowed choices are claude-code, claude-desktop, cursor, vscode, codex.'],
    [[], "missing required argument 'client'"],
  ])('%j', async (args, message) => {
    const errors = spyOn(process.stderr, 'write').mockReturnValue(true);
    await expect(connect(...args)).rejects.toThrow(message);
    errors.mockRestore();
  });
});

test('the key comes from the environment', async () => {
  const { code, stdout } = await run(
    [PROGRAM, ...SOURCES],
    ['connect', 'codex', '--url', 'http://127.0.0.1:8080'],
    '',
    {
      ZOMMA_KEY: KEY,
    },
  );
  expect([code, entryIn(stdout, 'codex')]).toEqual([0, CLIENTS.codex!.remote]);
});

test('docs/clients.md has the same forms', () => {
  const page = clientConfigs(readFileSync(join(ROOT, 'docs/clients.md'), 'utf8'));
  const forms = page.filter(({ language }) => language === 'json').map(({ text }) => JSON.parse(text));
  // The page has a placeholder in place of the key, and a program on the path.
  const asOnPage = (entry: object) => JSON.parse(JSON.stringify(entry).replaceAll(KEY, 'ZOMMA_…'));
  const program = (args: readonly string[]) => ({ command: 'zomma', args: args.slice(SOURCES.length) });
  for (const entry of [CLIENTS['claude-code']!.remote, CLIENTS.vscode!.remote])
    expect(forms).toContainEqual(asOnPage(entry));
  expect(forms).toContainEqual(asOnPage({ mcpServers: { zomma: { ...BRIDGED, ...program(BRIDGED.args) } } }));
  const local = program([...STDIO.args.slice(0, -1), '/var/lib/zomma']);
  expect(forms).toContainEqual({ mcpServers: { zomma: local } });
});

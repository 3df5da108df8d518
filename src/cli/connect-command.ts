import { resolve } from 'node:path';
import { Argument } from 'commander';
import { shownJson } from '../core/clean-text.ts';
import { mcpAddress } from '../core/mcp-address.ts';
import { ownCommand } from '../core/own-command.ts';
import { shellLine } from '../core/shell-line.ts';
import { SETTINGS } from '../settings/config.ts';
import type { CliCommand } from './cli-command.ts';
import { print } from './csv/streams.ts';
import { remoteServerOf, withRemoteServer } from './remote-server.ts';

const NAME = 'zomma';
const KEY_HEADER = 'X-API-Key';

/** A server as an MCP client reaches it: at an address, or as a program that the client starts. */
type McpServer = HttpServer | StdioServer;

interface HttpServer {
  readonly url: string;
  readonly headers: { readonly [KEY_HEADER]: string };
}

interface StdioServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

interface ClientForm {
  readonly title: string;
  /** The file of the user's configuration, for each system. */
  readonly files: Readonly<Record<string, string>>;
  readonly fileHint?: string;
  /** True if the client reaches a server at an address only through a program that it starts. */
  readonly startsPrograms?: true;
  readonly entry: (server: McpServer) => Record<string, unknown>;
  /** Returns a line for a shell that writes the entry. Absent if the client has no such command for the server. */
  readonly line?: (server: McpServer) => string | undefined;
}

const inHome = (file: string) => ({
  'macOS, Linux': `~/${file}`,
  Windows: `%USERPROFILE%\\${file.replaceAll('/', '\\')}`,
});
const inAppData = (folder: string, file: string) => ({
  macOS: `~/Library/Application Support/${folder}/${file}`,
  Linux: `~/.config/${folder}/${file}`,
  Windows: `%APPDATA%\\${folder.replaceAll('/', '\\')}\\${file}`,
});

const mcpServers = (server: McpServer) => ({ mcpServers: { [NAME]: server } });
const typed = (server: McpServer) => ({ type: 'url' in server ? 'http' : 'stdio', ...server });
const headerOf = ({ headers }: HttpServer) => `${KEY_HEADER}: ${headers[KEY_HEADER]}`;

const CLIENT_FORMS = {
  'claude-code': {
    title: 'Claude Code',
    files: inHome('.claude.json'),
    entry: (server) => mcpServers(typed(server)),
    line: (server) =>
      'url' in server
        ? `claude mcp add --scope user --transport http ${shellLine(NAME, server.url, '--header', headerOf(server))}`
        : `claude mcp add --scope user ${shellLine(NAME, '--', server.command, ...server.args)}`,
  },
  'claude-desktop': {
    title: 'Claude Desktop',
    files: inAppData('Claude', 'claude_desktop_config.json'),
    fileHint: 'Settings, Developer, Edit Config opens the file. Restart Claude Desktop afterwards.',
    startsPrograms: true,
    entry: mcpServers,
  },
  cursor: {
    title: 'Cursor',
    files: inHome('.cursor/mcp.json'),
    fileHint: 'For one project alone: .cursor/mcp.json in its folder.',
    entry: mcpServers,
  },
  vscode: {
    title: 'VS Code',
    files: inAppData('Code/User', 'mcp.json'),
    fileHint: 'For one project alone: .vscode/mcp.json in its folder.',
    entry: (server) => ({ servers: { [NAME]: typed(server) } }),
    line: (server) => `code --add-mcp ${shellLine(JSON.stringify({ name: NAME, ...typed(server) }))}`,
  },
  codex: {
    title: 'Codex',
    files: inHome('.codex/config.toml'),
    entry: (server) => ({
      mcp_servers: { [NAME]: 'url' in server ? { url: server.url, http_headers: server.headers } : server },
    }),
    // The command for an address takes no header, and no key but the name of a variable.
    line: (server) =>
      'url' in server ? undefined : `codex mcp add ${shellLine(NAME, '--', server.command, ...server.args)}`,
  },
} as const satisfies Readonly<Record<string, ClientForm>>;

/** Adds `zomma connect`, which prints how an MCP client connects to this machine's data or to a running server. */
export function addConnect(program: CliCommand): void {
  const names = Object.keys(CLIENT_FORMS);
  const connect = program
    .command('connect')
    .description(
      'Print the line or the entry that connects an MCP client to a running server or, without --url, to the data of this machine.',
    )
    .addArgument(new Argument('<client>', 'the client').choices(names));
  withRemoteServer(connect, 'address of the running server')
    .option('--json', 'print the entry alone, as one JSON object')
    .settings(['dataDir', 'store', 'key'])
    .examples(
      `${SETTINGS.key.env}=ZOMMA_… zomma connect claude-code --url http://127.0.0.1:8080`,
      'zomma connect claude-desktop --data-dir /var/lib/zomma',
      `${SETTINGS.key.env}=ZOMMA_… zomma connect cursor --url https://zomma.example.com --json`,
    )
    .action(async (client: keyof typeof CLIENT_FORMS, options, command: CliCommand) => {
      const form: ClientForm = CLIENT_FORMS[client];
      const remote = remoteServerOf(options, command);
      const server = remote
        ? remoteServer(form, remote, options.insecureHttp)
        : programServer(['--data-dir', resolve(options.dataDir), ...storeFlags(options.store)]);
      print(options.json ? shownJson(form.entry(server)) : await instructions(client, form, server));
    });
}

function remoteServer(form: ClientForm, { url, key }: { url: URL; key: string }, insecureHttp = false): McpServer {
  if (!form.startsPrograms) return { url: mcpAddress(url).href, headers: { [KEY_HEADER]: key } };
  const flags = ['--url', url.href.replace(/\/$/, ''), ...(insecureHttp ? ['--insecure-http'] : [])];
  return { ...programServer(flags), env: { [SETTINGS.key.env]: key } };
}

/** Returns the flags that name a database that servers share. The program reads the copy in the data folder, so it needs no password. */
function storeFlags(store: string): string[] {
  return store === 'sqlite' ? [] : ['--store', store];
}

function programServer(flags: readonly string[]): StdioServer {
  const [command, ...args] = ownCommand();
  return { command, args: [...args, 'mcp', ...flags] };
}

async function instructions(client: string, form: ClientForm, server: McpServer): Promise<string> {
  const { title, files, fileHint, entry, line: lineFor } = form;
  const line = lineFor?.(server);
  const paths = Object.entries(files).map(([system, path]) => `  ${system.padEnd(14)}${path}\n`);
  const isToml = client === 'codex';
  const text = isToml ? (await import('smol-toml')).stringify(entry(server)).trimEnd() : shownJson(entry(server), 2);
  const add = "add this entry to the client's file, beside other servers";
  return `${line ? `${title}: run this line.\n\n  ${line}\n\nOr ${add}` : `${title}: ${add}`}:

${paths.join('')}${fileHint ? `${fileHint}\n` : ''}
${text}`;
}

import type { Command } from 'commander';
import { SETTINGS } from '../config.ts';
import { OperatorError } from '../errors.ts';
import type { Ports } from './ports.ts';
import { DATA_SETTINGS, FEED_SETTINGS, withSettings } from './settings.ts';

/** `zomma mcp`: the tools over standard input and output, from this machine's store or from a running server. */
export function addMcp(program: Command, ports: Ports): void {
  withSettings(
    program
      .command('mcp')
      .description(
        "Serve MCP on standard input and output, as clients start it: from this machine's data, or a server's.",
      )
      .option('--url <url>', 'pass everything to a running server, e.g. http://127.0.0.1:8080; with --key')
      .option(
        '--key <key>',
        `the key for it; better in ${SETTINGS.key.env}, since a command line is visible to all users`,
      ),
    [...FEED_SETTINGS, ...DATA_SETTINGS, 'logLevel'],
    ['feed'],
  )
    .addHelpText(
      'after',
      `
Without --url it answers from what is stored in --data-dir; where nothing is, from the simulated market. With --feed it takes in
market data besides, as long as its client is there.

Examples:
  $ zomma mcp --data-dir /var/lib/zomma
  $ zomma mcp --feed files:./chains
  $ ${SETTINGS.key.env}=ZOMMA_… zomma mcp --url https://zomma.example.com

As a client is told of it:
  {"mcpServers": {"zomma": {"command": "/usr/local/bin/zomma", "args": ["mcp", "--data-dir", "/var/lib/zomma"]}}}
`,
    )
    .action(({ url, key, ...settings }) => {
      if (url !== undefined) return ports.bridge({ url: urlOf(url), key: keyOf(key) });
      if (key !== undefined) throw new OperatorError('--key is for a server', 'name it with --url');
      return ports.serveStdio(settings);
    });
}

function urlOf(text: string): URL {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new OperatorError(`"${text}" is not an address of a server`, 'e.g. --url http://127.0.0.1:8080');
}

function keyOf(flag: string | undefined): string {
  const key = flag ?? process.env[SETTINGS.key.env]?.trim();
  if (key) return key;
  throw new OperatorError('a server asks for a key', `set ${SETTINGS.key.env}, or give --key`);
}

import { OperatorError, SettingError } from '../core/errors.ts';
import { isLoopback } from '../core/loopback.ts';
import { SETTINGS, settingsIn } from '../settings/config.ts';
import type { CliCommand } from './cli-command.ts';
import type { Ports } from './ports.ts';

/** Adds `zomma mcp`, which serves MCP over standard input and output. The data comes from this machine or from a running server. */
export function addMcp(program: CliCommand, ports: Ports): void {
  program
    .command('mcp')
    .description(
      'Serve MCP over standard input and output, with the data of this machine or of a running server. An MCP client starts this command.',
    )
    .option('--url <url>', 'relay every message to a running server, e.g. http://127.0.0.1:8080; needs an API key')
    .option(
      '--key <key>',
      `API key for the server. Prefer the environment variable ${SETTINGS.key.env}, because every user of the machine can see a command line`,
    )
    .option(
      '--insecure-http',
      'with --url: send the API key unencrypted to a server on another machine, for example within an encrypted tunnel',
    )
    .settings(settingsIn('feeds', 'data', 'mcp', 'log', 'client'), { withoutDefault: ['feed'] })
    .addHelpText(
      'after',
      `
Without --url, answers use the data that is stored in --data-dir. If nothing is stored, they use the simulated market.
With --feed, the command also polls the feeds and stores their market data until the client disconnects.

Examples:
  $ zomma mcp --data-dir /var/lib/zomma
  $ zomma mcp --feed files:./chains
  $ ${SETTINGS.key.env}=ZOMMA_… zomma mcp --url https://zomma.example.com

An entry in a client's configuration:
  {"mcpServers": {"zomma": {"command": "/usr/local/bin/zomma", "args": ["mcp", "--data-dir", "/var/lib/zomma"]}}}
`,
    )
    .action(({ url, key, insecureHttp = false, ...settings }, command: CliCommand) => {
      if (url !== undefined) return ports.bridge({ url: urlOf(url, insecureHttp), key: keyOf(key) });
      if (command.getOptionValueSource('key') === 'cli')
        throw new OperatorError('--key needs --url', 'Name the server with --url.');
      return ports.serveStdio(settings);
    });
}

function urlOf(text: string, insecureHttp: boolean): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new OperatorError(`"${text}" is not the address of a server`, 'Use e.g. --url http://127.0.0.1:8080.');
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (url.protocol === 'https:' || insecureHttp || isLoopback(host)) return url;
  throw new OperatorError(
    `the API key would cross the network in the clear, because ${url.origin} is plain HTTP and not this machine`,
    'Use https. If the network in between is encrypted, for example a VPN, add --insecure-http.',
  );
}

function keyOf(given: string | undefined): string {
  const key = given?.trim();
  if (key) return key;
  throw new SettingError(
    '--url needs an API key',
    `Set ${SETTINGS.key.env} or ${SETTINGS.key.env}_FILE, or use --key.`,
  );
}

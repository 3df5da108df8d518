import type { Ports } from '../server/cli-ports.ts';
import { SETTINGS, settingsIn } from '../settings/config.ts';
import { type CliCommand, requireAlone } from './cli-command.ts';
import { remoteServerOf, withRemoteServer } from './remote-server.ts';

const NO_FEED_HINT =
  'Leave out --feed. One of the servers polls the feeds, and their data is in the copy in --data-dir.';

/** Adds `zomma mcp`, which serves MCP over standard input and output. The data comes from this machine or from a running server. */
export function addMcp(program: CliCommand, ports: Ports): void {
  const mcp = program
    .command('mcp')
    .description(
      'Serve MCP over standard input and output, with the data of this machine or of a running server. An MCP client starts this command.',
    );
  withRemoteServer(mcp, 'relay every message to a running server')
    .settings(settingsIn('feeds', 'data', 'mcp', 'log', 'client'), { withoutDefault: ['feed'] })
    .addHelpText(
      'after',
      `
Without --url, answers use the data that is stored in --data-dir. If nothing is stored, they use the simulated market.
With --feed, the command also polls the feeds and stores their market data until the client disconnects.
With a Postgres database as --store, answers use the copy of its data that a server keeps in --data-dir.

Examples:
  $ zomma mcp --data-dir /var/lib/zomma
  $ zomma mcp --feed files:./chains
  $ ${SETTINGS.key.env}=ZOMMA_… zomma mcp --url https://zomma.example.com

"zomma connect" prints the entry for a client's configuration.
`,
    )
    .action(({ url, key, insecureHttp, ...settings }, command: CliCommand) => {
      const server = remoteServerOf({ url, key, insecureHttp }, command);
      if (server) return ports.bridge(server);
      if (settings.feed !== undefined) requireAlone('zomma mcp --feed', settings.store, NO_FEED_HINT);
      return ports.serveStdio(settings);
    });
}

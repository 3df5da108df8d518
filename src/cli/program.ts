import type { Ports } from '../server/cli-ports.ts';
import { CliCommand } from './cli-command.ts';

type Add = (program: CliCommand, ports: Ports) => void;

/** The modules that define the commands, in the order of the help. */
const COMMANDS: Readonly<Record<string, () => Promise<Add>>> = {
  ...command(['serve', 'start'], async () => (await import('./serve-command.ts')).addServe),
  ...command(['gex'], async () => (await import('./gex-command.ts')).addGex),
  ...command(['surface'], async () => (await import('./surface-command.ts')).addSurface),
  ...command(['history'], async () => (await import('./history-command.ts')).addHistory),
  ...command(['call'], async () => (await import('./call-command.ts')).addCall),
  ...command(['greeks', 'iv', 'merton'], async () => (await import('./columns-command.ts')).addColumns),
  ...command(['ingest'], async () => (await import('./ingest-command.ts')).addIngest),
  ...command(['map'], async () => (await import('./map-command.ts')).addMap),
  ...command(['chains'], async () => (await import('./chains-command.ts')).addChains),
  ...command(['feeds'], async () => (await import('./feeds-command.ts')).addFeeds),
  ...command(['mcp'], async () => (await import('./mcp-command.ts')).addMcp),
  ...command(['connect'], async () => (await import('./connect-command.ts')).addConnect),
  ...command(['members'], async () => (await import('./members-command.ts')).addMembers),
  ...command(['secret'], async () => (await import('./secret-command.ts')).addSecret),
  ...command(['audit'], async () => (await import('./audit-command.ts')).addAudit),
  ...command(['tls'], async () => (await import('./tls-command.ts')).addTls),
  ...command(['backup', 'restore'], async () => (await import('./backup-command.ts')).addBackup),
  ...command(['migrate'], async () => (await import('./migrate-command.ts')).addMigrate),
  ...command(['compact'], async () => (await import('./compact-command.ts')).addCompact),
  ...command(['upgrade'], async () => (await import('./upgrade-command.ts')).addUpgrade),
  ...command(['check'], async () => (await import('./check-command.ts')).addCheck),
  ...command(['config'], async () => (await import('./config-command.ts')).addConfig),
  ...command(['bench'], async () => (await import('./bench-command.ts')).addBench),
};

/** Creates the command line. Loads only the code of the command that the first argument names, or of all commands if it names none. */
export async function createProgram(ports: Ports, first: string | undefined): Promise<CliCommand> {
  if (first === '--version' || first === '-V') return describeProgram(await ports.versionLine());
  const program = describeProgram('');
  const chosen = first === undefined ? undefined : COMMANDS[first];
  for (const load of chosen ? [chosen] : new Set(Object.values(COMMANDS))) (await load())(program, ports);
  return program;
}

function command(names: readonly string[], load: () => Promise<Add>): Record<string, () => Promise<Add>> {
  return Object.fromEntries(names.map((name) => [name, load]));
}

function describeProgram(versionLine: string): CliCommand {
  return new CliCommand('zomma')
    .description('Options-market analytics server: Greeks, GEX levels, flow and jump probabilities over REST and MCP.')
    .version(versionLine)
    .exitOverride()
    .showHelpAfterError('(see --help)')
    .addHelpText(
      'after',
      `
Examples:
  $ zomma start                                   try Zomma with a simulated market and a demo key
  $ zomma serve --feed files:./chains             serve your own option chains
  $ zomma mcp                                     serve MCP over standard input and output, for an agent's client
  $ zomma connect claude-code                     print how an agent's client connects
  $ zomma ingest tape-2026-08-17.csv              load a day of option prints into the store
  $ zomma feeds                                   show the state of the feeds
  $ zomma members add --uuid 7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90   add a member and print the member's API key
  $ zomma gex SPY-quotes.csv                      compute the GEX levels of one file, without a server
  $ zomma greeks options.csv > greeks.csv         compute Greeks of a CSV of any length
  $ zomma call calculate_kelly_sizing '{"win_prob":0.55}'   call a tool without a server
`,
    );
}

import { Command } from 'commander';
import { addBench } from './bench.ts';
import { addCall } from './call.ts';
import { addChains } from './chains.ts';
import { addColumns } from './columns.ts';
import { addFeeds } from './feeds.ts';
import { addGex } from './gex.ts';
import { addHistory } from './history.ts';
import { addIngest } from './ingest.ts';
import { addMcp } from './mcp.ts';
import { addMembers } from './members.ts';
import type { Ports } from './ports.ts';
import { addServe } from './serve.ts';

/** The command line, over what the composition root offers it. */
export function createProgram(ports: Ports, version: string): Command {
  const program = new Command('zomma')
    .description('Options-market analytics server: Greeks, GEX levels, flow, jump probabilities, over REST and MCP.')
    .version(version)
    .showHelpAfterError('(see --help)')
    .addHelpText(
      'after',
      `
Examples:
  $ zomma start                                   try it: simulated market and a demo key
  $ zomma serve --feed files:./chains             serve your own option chains
  $ zomma mcp                                     the tools over standard input and output, for an agent's client
  $ zomma ingest tape-2026-08-17.csv              load a day of option prints into the store
  $ zomma feeds                                   what the feeds last did and brought
  $ zomma members add --uuid 7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90
  $ zomma gex SPY-quotes.csv                      levels of one file, no server needed
  $ zomma greeks options.csv > greeks.csv         a CSV of options, of any length
  $ zomma call calculate_kelly_sizing '{"win_prob":0.55}'
`,
    );
  addServe(program, ports);
  addGex(program, ports);
  addHistory(program, ports);
  addCall(program, ports);
  addColumns(program);
  addIngest(program, ports);
  addChains(program, ports);
  addFeeds(program, ports);
  addMcp(program, ports);
  addMembers(program, ports);
  addBench(program);
  return program;
}

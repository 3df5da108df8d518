import { toolView } from '../../src/operations/perform.ts';
import { findOperation, TOOLS } from '../../src/operations/registry.ts';
import { satisfies } from '../../src/operations/validate.ts';
import type { Connection } from './client.ts';

/** Calls every tool on the simulated market once. Rejects if an answer does not have the tool's form. */
export async function callEach(connection: Connection): Promise<void> {
  const ask = async (name: string, args: Record<string, unknown>) => {
    const answer = await connection.call(name, args);
    if (satisfies(toolView(findOperation(name)!).output, answer)) return answer as Record<string, number | string>;
    throw new Error(`${name} answered ${JSON.stringify(answer)}`);
  };
  for (const { name, example } of TOOLS) {
    const args: Record<string, unknown> = { ...example };
    if ('target_expiry' in args) {
      // The date of the example may not be listed.
      args.target_expiry = (await ask('get_live_gex_nodes', { ticker: args.ticker })).whale_expiry;
    }
    await ask(name, args);
  }
}

/** One call that needs no market, to check a connection. */
export async function callOne(connection: Connection): Promise<void> {
  await connection.call('calculate_kelly_sizing', { win_prob: 0.6 });
}

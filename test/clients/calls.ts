import { isRecord } from '../../src/core/json-shape.ts';
import { READ_RESOURCE } from '../../src/mcp/read-resource.ts';
import { toolView } from '../../src/operations/engine/perform.ts';
import { satisfies } from '../../src/operations/engine/validate.ts';
import { findOperation, TOOLS } from '../../src/operations/registry.ts';
import type { Connection } from './client.ts';

/**
 * Calls every tool on the simulated market once, and again the tool that also answers with a picture. Then reads a resource by a tool.
 * Rejects if an answer does not have the form of its tool.
 */
export async function callEach(connection: Connection): Promise<void> {
  const ask = async (name: string, args: Record<string, unknown>) => {
    const answer = await connection.call(name, args);
    if (isAnswerOf(name, answer)) return answer as Record<string, number | string>;
    throw new Error(`${name} answered ${JSON.stringify(answer)}`);
  };
  for (const { name, example, picture } of TOOLS) {
    const args: Record<string, unknown> = { ...example };
    if ('target_expiry' in args) {
      // The date of the example may not be listed.
      args.target_expiry = (await ask('get_live_gex_nodes', { ticker: args.ticker })).whale_expiry;
    }
    await ask(name, args);
    if (picture) await ask(name, { ...args, format: 'image' });
  }
  const universe = await connection.call(READ_RESOURCE.name, { uri: 'zomma://universe' });
  if (isRecord(universe) && 'age_of_data' in universe) return;
  throw new Error(`${READ_RESOURCE.name} answered ${JSON.stringify(universe)}`);
}

/** Whether an answer has the keys of its tool and, beside them, where the figures come from. */
function isAnswerOf(name: string, answer: unknown): boolean {
  if (!isRecord(answer) || !isRecord(answer.provenance)) return false;
  const { provenance, ...body } = answer;
  const tool = findOperation(name)!;
  const isOriginKnown = tool.ofMarket ? provenance.simulated === true : typeof provenance.source === 'string';
  return isOriginKnown && satisfies(toolView(tool).output, body);
}

/** One call that needs no market, to check a connection. */
export async function callOne(connection: Connection): Promise<void> {
  await connection.call('calculate_kelly_sizing', { win_prob: 0.6 });
}

import { type ExampleCalls, exampleCalls, marketWithLevels, type ToolCall } from '../../scripts/example-calls.ts';
import type { ToolName } from '../../src/client/client.ts';
import { runToCompletion } from '../../src/core/steps.ts';
import type { Chain } from '../../src/market/chain.ts';
import { READ_RESOURCE } from '../../src/mcp/read-resource.ts';
import { RESOURCES } from '../../src/mcp/resources.ts';
import { TICKER_RESOURCES } from '../../src/mcp/ticker-resources.ts';
import { toolDefinitions } from '../../src/mcp/tool-definitions.ts';
import { extendedView, perform } from '../../src/operations/engine/perform.ts';
import { findOperation, TOOLS } from '../../src/operations/registry.ts';
import { dayBefore, smallMarket } from '../operations/small-market.ts';
import { tokensOf } from './tokens.ts';

/** Tokens by the name of the tool. */
export type ToolTokens = Readonly<Record<string, number>>;

/** Tokens of each definition as `tools/list` sends it. */
export function definitionTokens(): ToolTokens {
  return Object.fromEntries(toolDefinitions(TOOLS).map((tool) => [tool.name, tokensOf(tool)]));
}

/** Tokens of what most hosts show of each tool to a model: its name, description and input schema. */
export function visibleTokens(): ToolTokens {
  return Object.fromEntries(
    [...toolDefinitions(TOOLS), READ_RESOURCE].map(({ name, description, inputSchema }) => [
      name,
      tokensOf({ name, description, inputSchema }),
    ]),
  );
}

/** Tokens of the largest default answer of each tool on a chain, provenance included. */
export function defaultTokens(chain: Chain): ToolTokens {
  return most(exampleCalls(chain), ({ sent }) => sent);
}

/** Tokens of the longest possible answer of each tool on a chain: extended, with the maximum number of rows. */
export function longestTokens(chain: Chain): ToolTokens {
  const context = marketWithLevels(chain);
  return most(exampleCalls(chain), ({ name, args }) => {
    const tool = findOperation(name)!;
    const { limit } = tool.input.properties;
    const longest = limit ? { ...args, limit: limit.maximum } : args;
    return runToCompletion(perform(extendedView(tool), longest, context, 'invalid_body')).body;
  });
}

/** Tokens of the first page of each resource of a chain's ticker, at four characters a token. The methods have a test of their own. */
export function resourceTokens(chain: Chain): ToolTokens {
  const { context } = smallMarket({ chains: [dayBefore(chain), chain], simulated: chain.simulated }, chain.asOf);
  const expiry = chain.series.find(({ settlesAt }) => settlesAt > chain.asOf)!.expiry;
  return Object.fromEntries(
    Object.values(TICKER_RESOURCES).map(({ uriTemplate, name }) => {
      const uri = uriTemplate.replace('{ticker}', chain.underlying).replace('{expiry}', expiry);
      const [content] = runToCompletion(RESOURCES.read(uri, context)).contents;
      return [name, Math.ceil((content as { text: string }).text.length / 4)];
    }),
  );
}

function most(calls: ExampleCalls, answerOf: (call: ToolCall<ToolName>) => object): ToolTokens {
  const tokens: Record<string, number> = {};
  for (const call of Object.values(calls).flat()) {
    tokens[call.name] = Math.max(tokens[call.name] ?? 0, tokensOf(answerOf(call)));
  }
  return tokens;
}

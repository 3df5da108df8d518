import type { CompleteRequestParams, CompleteResult } from '@modelcontextprotocol/server';
import type { Context } from '../operations/operation.ts';
import { RESOURCES } from './resources.ts';

/** As many as the protocol lets one answer have. */
const VALUES_MAX = 100;

/**
 * Values for a template's argument that begin with what is typed: of `ticker` those that have a chain, then the others of the universe; of
 * `expiry` those of the ticker that is filled in already, settled ones left out. Nothing for what is no template.
 */
export function complete({ ref, argument, context: filled }: CompleteRequestParams, context: Context): CompleteResult {
  const isOurs =
    ref.type === 'ref/resource' && RESOURCES.templates.some((each) => isOf(each.uriTemplate, ref.uri, argument.name));
  const values = isOurs ? candidates(argument.name, filled?.arguments ?? {}, context) : [];
  const typed = argument.value.toUpperCase();
  const fitting = values.filter((value) => value.toUpperCase().startsWith(typed));
  return {
    completion: {
      values: fitting.slice(0, VALUES_MAX),
      total: fitting.length,
      hasMore: fitting.length > VALUES_MAX,
    },
  };
}

/** Whether an address is a template of ours that has the argument. */
function isOf(template: string, uri: string, argument: string): boolean {
  return template === uri && template.includes(`{${argument}}`);
}

function candidates(name: string, filled: Readonly<Record<string, string>>, { market, universe }: Context): string[] {
  if (name === 'ticker') return [...new Set([...market.tickersWithChain(), ...universe.tickers])];
  if (name !== 'expiry' || filled.ticker === undefined) return [];
  const chain = market.findChain(filled.ticker);
  const live = chain?.series.filter(({ settlesAt }) => settlesAt > chain.asOf) ?? [];
  return ['all', ...new Set(live.map(({ expiry }) => expiry).toSorted())];
}

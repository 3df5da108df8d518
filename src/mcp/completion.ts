import type { CompleteRequestParams, CompleteResult } from '@modelcontextprotocol/server';
import type { Context } from '../operations/operation.ts';
import { RESOURCES } from './resources.ts';

/** As many as the protocol lets one answer have. */
const VALUES_MAX = 100;
/** No ticker and no date is longer. */
const TYPED_MAX = 20;

/**
 * Values for a template's argument that begin with what is typed: of `ticker` those that have a chain, then the others of the universe; of
 * `expiry` those of the ticker that is filled in already, settled ones left out. Nothing for what is no template.
 */
export function complete({ ref, argument, context: filled }: CompleteRequestParams, context: Context): CompleteResult {
  const isOurs =
    ref.type === 'ref/resource' && RESOURCES.templates.some((each) => isOf(each.uriTemplate, ref.uri, argument.name));
  const typed = argument.value.slice(0, TYPED_MAX).toUpperCase();
  const values = isOurs ? candidates(argument.name, typed, filled?.arguments ?? {}, context) : [];
  const fitting = values.filter((value) => value.toUpperCase().startsWith(typed));
  const hasMore = fitting.length > VALUES_MAX;
  // Of more than one answer has it is not known how many there are.
  return { completion: { values: fitting.slice(0, VALUES_MAX), ...(!hasMore && { total: fitting.length }), hasMore } };
}

/** Whether an address is a template of ours that has the argument. */
function isOf(template: string, uri: string, argument: string): boolean {
  return template === uri && template.includes(`{${argument}}`);
}

function candidates(
  name: string,
  typed: string,
  filled: Readonly<Record<string, string>>,
  { market, universe }: Context,
): string[] {
  // From what is typed on: those that begin with it come first.
  if (name === 'ticker') return [...new Set([...market.tickersWithChain(typed, VALUES_MAX + 1), ...universe.tickers])];
  if (name !== 'expiry' || filled.ticker === undefined) return [];
  const chain = market.findChain(filled.ticker);
  const live = chain?.series.filter(({ settlesAt }) => settlesAt > chain.asOf) ?? [];
  return ['all', ...new Set(live.map(({ expiry }) => expiry).toSorted())];
}

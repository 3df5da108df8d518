import type { CompleteRequestParams, CompleteResult } from '@modelcontextprotocol/server';
import type { Context } from '../operations/operation.ts';
import { RESOURCES } from './resources.ts';

/** Maximum number of values in one answer, a limit of the protocol. */
const VALUES_MAX = 100;
/** Maximum number of typed characters that are compared. No ticker and no date is longer. */
const TYPED_MAX = 20;

/**
 * Completes an argument of a resource template with the values that begin with the typed text. For `ticker`: the tickers with a chain, then
 * the other tickers of the universe. For `expiry`: `all`, and the expiries of the given ticker's chain that had not settled when the chain
 * was quoted. Returns no values if the reference is not a resource template.
 */
export function complete({ ref, argument, context: filled }: CompleteRequestParams, context: Context): CompleteResult {
  const isOurs =
    ref.type === 'ref/resource' && RESOURCES.templates.some((each) => isOf(each.uriTemplate, ref.uri, argument.name));
  const typed = argument.value.slice(0, TYPED_MAX).toUpperCase();
  const values = isOurs ? candidates(argument.name, typed, filled?.arguments ?? {}, context) : [];
  const fitting = values.filter((value) => value.toUpperCase().startsWith(typed));
  const hasMore = fitting.length > VALUES_MAX;
  // If the values do not fit into one answer, their total is not known.
  return { completion: { values: fitting.slice(0, VALUES_MAX), ...(!hasMore && { total: fitting.length }), hasMore } };
}

/** Whether a URI is this resource template, and the template has the argument. */
function isOf(template: string, uri: string, argument: string): boolean {
  return template === uri && template.includes(`{${argument}}`);
}

function candidates(
  name: string,
  typed: string,
  filled: Readonly<Record<string, string>>,
  { market, universe }: Context,
): string[] {
  // Tickers are listed in order from the typed text on, so the tickers that begin with the typed text come first.
  if (name === 'ticker') return [...new Set([...market.tickersWithChain(typed, VALUES_MAX + 1), ...universe.tickers])];
  if (name !== 'expiry' || filled.ticker === undefined) return [];
  const chain = market.findChain(filled.ticker);
  const live = chain?.series.filter(({ settlesAt }) => settlesAt > chain.asOf) ?? [];
  return ['all', ...new Set(live.map(({ expiry }) => expiry).toSorted())];
}

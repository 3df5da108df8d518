import type { CompleteRequestParams, CompleteResult } from '@modelcontextprotocol/server';
import type { Context } from '../operations/engine/operation.ts';
import { promptHasArgument } from './prompts.ts';
import { RESOURCES } from './resources.ts';
import { METHODS } from './tool-methods.ts';

/** Maximum number of values in one answer. The protocol sets this limit. */
const VALUES_MAX = 100;
/** Maximum number of typed characters that the completion compares with a value. Tickers, tool names and dates are shorter. */
const TYPED_MAX = 40;

/**
 * Completes an argument of a resource template or prompt. `ticker` and the last of `tickers`: tickers with a chain, then others of the
 * universe. `expiry`: the unsettled expiries of the chain, and `all` for a resource. `tool`: the tools. Anything else has no values.
 */
export function complete({ ref, argument, context: filled }: CompleteRequestParams, context: Context): CompleteResult {
  const isOurs =
    ref.type === 'ref/resource'
      ? RESOURCES.templates.some((each) => isOf(each.uriTemplate, ref.uri, argument.name))
      : promptHasArgument(ref.name, argument.name);
  // In a list of tickers, the code completes only the last ticker.
  const before = argument.name === 'tickers' ? (/^.*,\s*/s.exec(argument.value)?.[0] ?? '') : '';
  const typed = argument.value.slice(before.length).slice(0, TYPED_MAX).toUpperCase();
  const given = filled?.arguments ?? {};
  const values = isOurs ? candidates(argument.name, typed, given, ref.type === 'ref/resource', context) : [];
  const fitting = values.filter((value) => value.toUpperCase().startsWith(typed)).map((value) => before + value);
  const hasMore = fitting.length > VALUES_MAX;
  // If the values do not fit into one answer, their total number is unknown.
  return { completion: { values: fitting.slice(0, VALUES_MAX), ...(!hasMore && { total: fitting.length }), hasMore } };
}

/** Returns whether `uri` equals the resource template `template`, and this template has the argument. */
function isOf(template: string, uri: string, argument: string): boolean {
  return template === uri && template.includes(`{${argument}}`);
}

function candidates(
  name: string,
  typed: string,
  filled: Readonly<Record<string, string>>,
  ofResource: boolean,
  { market, universe }: Context,
): readonly string[] {
  switch (name) {
    case 'ticker':
    case 'tickers':
      // `tickersWithChain` lists tickers in alphabetical order from the typed text on, so the matching tickers come first.
      return [...new Set([...market.tickersWithChain(typed, VALUES_MAX + 1), ...universe.tickers])];
    case 'expiry': {
      if (filled.ticker === undefined) return [];
      const chain = market.findChain(filled.ticker);
      const live = chain?.series.filter(({ settlesAt }) => settlesAt > chain.asOf) ?? [];
      return [...(ofResource ? ['all'] : []), ...new Set(live.map(({ expiry }) => expiry).toSorted())];
    }
    case 'tool':
      return [...METHODS.keys()];
    case 'put_call':
      return ['C', 'P'];
    default:
      return [];
  }
}

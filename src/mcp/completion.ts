import type { CompleteRequestParams, CompleteResult } from '@modelcontextprotocol/server';
import type { Context } from '../operations/operation.ts';

/** As many as the protocol lets one answer have. */
const VALUES_MAX = 100;

/**
 * Values for a template's argument that begin with what is typed: of `ticker` those that have a chain, then the others of the universe; of
 * `expiry` those of the ticker that is filled in already.
 */
export function complete({ argument, context: filled }: CompleteRequestParams, context: Context): CompleteResult {
  const values = candidates(argument.name, filled?.arguments ?? {}, context);
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

function candidates(name: string, filled: Readonly<Record<string, string>>, { market, universe }: Context): string[] {
  if (name === 'ticker') return [...new Set([...market.tickersWithChain(), ...universe.tickers])];
  if (name !== 'expiry' || filled.ticker === undefined) return [];
  const series = market.findChain(filled.ticker)?.series ?? [];
  return ['all', '0dte', ...new Set(series.map(({ expiry }) => expiry).toSorted())];
}

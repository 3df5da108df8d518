import { existsSync } from 'node:fs';
import { FLOW_WINDOW_DAYS, largePrints } from '../analytics/flow/flow.ts';
import { OperatorError } from '../errors.ts';
import { DAY_MS, newYorkDate } from '../market/calendar.ts';
import type { Chain } from '../market/chain.ts';
import { canonicalTicker } from '../market/option-symbol.ts';
import { type Print, premiumOf, sumOf } from '../market/prints.ts';
import type { PrintsAround } from './gex-analysis.ts';
import type { Ports } from './ports.ts';

/**
 * Reads the prints of a chain's underlying from a tape. Each print counts once. A copy with the canceled flag removes the print. Throws
 * `OperatorError` if the file does not exist, is not a tape, or has no such print.
 */
export async function readPrintsFile(
  path: string,
  chain: Chain,
  minPremiumUsd: number,
  ports: Ports,
): Promise<PrintsAround> {
  if (!existsSync(path)) throw new OperatorError(`there is no file ${path}`, 'Name a CSV of prints.');
  const byId = new Map<string, Print>();
  const today = newYorkDate(chain.asOf);
  for await (const delivery of ports.readFile(path)) {
    if (delivery.kind === 'rejection') throw new OperatorError(`${path}: ${delivery.reason}`, 'Name a CSV of prints.');
    if (delivery.kind !== 'prints') continue;
    for (const print of delivery.prints) {
      // Expired contracts do not affect positions. Their prints affect flow only if they are large.
      const counts = print.expiry >= today || premiumOf(print) >= minPremiumUsd;
      if (print.underlying !== chain.underlying || !counts) continue;
      if (print.canceled || !byId.has(print.id)) byId.set(print.id, print);
    }
  }
  const prints = [...byId.values()].filter(({ canceled }) => !canceled).sort((a, b) => a.at - b.at);
  if (prints.length === 0)
    throw new OperatorError(`${path} holds no print of ${chain.underlying}`, 'Name another tape.');
  const from = Math.max(chain.asOf, prints.at(-1)!.at) - FLOW_WINDOW_DAYS * DAY_MS;
  return {
    large: largePrints(
      prints.filter(({ at }) => at >= from),
      minPremiumUsd,
    ).map(sumOf),
    tape: { count: prints.length, version: path, prints },
  };
}

/**
 * Reads the newest chain of a file. `ticker` selects one of several underlyings. Throws `OperatorError` if the file has no chain of the
 * ticker, or if it has several underlyings and `ticker` is missing.
 */
export async function chainOf(path: string, ticker: string | undefined, ports: Ports): Promise<Chain> {
  const deliveries = await Array.fromAsync(ports.readFile(path));
  const chains = deliveries.flatMap((each) => (each.kind === 'chain' ? [each.chain] : []));
  const refusal = deliveries.find((each) => each.kind === 'rejection');
  const named =
    ticker === undefined ? chains : chains.filter(({ underlying }) => underlying === canonicalTicker(ticker));
  const underlyings = [...new Set(named.map(({ underlying }) => underlying))];
  if (underlyings.length > 1) {
    throw new OperatorError(
      `${path} holds several underlyings`,
      `Choose one with --ticker: ${underlyings.join(', ')}.`,
    );
  }
  const newest = named.toSorted((a, b) => b.asOf - a.asOf)[0];
  if (newest) return newest;
  throw new OperatorError(
    refusal?.kind === 'rejection' ? `${path}: ${refusal.reason}` : `${path} holds no option chain`,
    'Use a chain as CSV or Parquet, a quote-table CSV or a delayed-quote JSON.',
  );
}

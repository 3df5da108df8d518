import { existsSync } from 'node:fs';
import { FLOW_WINDOW_DAYS, largePrints } from '../analytics/flow/flow.ts';
import { OperatorError } from '../core/errors.ts';
import { DAY_MS, newYorkDate } from '../market/calendar.ts';
import type { Chain } from '../market/chain.ts';
import { canonicalTicker } from '../market/option-symbol.ts';
import { type Print, premiumOf, sumOf } from '../market/prints.ts';
import type { Ports } from '../server/cli-ports.ts';
import type { ChainPrints } from './gex-analysis.ts';

/**
 * Reads the prints of a chain's underlying from a tape. Returns each print once. Leaves out a print if any row with its id has the flag
 * `canceled`. Leaves out prints of contracts that expired before the chain's date, if the premium is below `minPremiumUsd`. Throws
 * `OperatorError` if the file does not exist or is not a tape, or if no print remains.
 */
export async function readPrintsFile(
  path: string,
  chain: Chain,
  minPremiumUsd: number,
  ports: Ports,
): Promise<ChainPrints> {
  if (!existsSync(path)) throw new OperatorError(`there is no file ${path}`, NAME_A_TAPE);
  const byId = new Map<string, Print>();
  const chainDate = newYorkDate(chain.asOf);
  for await (const delivery of ports.readFile(path)) {
    if (delivery.kind === 'rejection') throw new OperatorError(`${path}: ${delivery.reason}`, NAME_A_TAPE);
    if (delivery.kind !== 'prints') continue;
    for (const print of delivery.prints) {
      // Expired contracts do not affect positions. Only large prints of expired contracts affect flow.
      const isCounted = print.expiry >= chainDate || premiumOf(print) >= minPremiumUsd;
      if (print.underlying !== chain.underlying || !isCounted) continue;
      if (print.canceled || !byId.has(print.id)) byId.set(print.id, print);
    }
  }
  const prints = [...byId.values()].filter(({ canceled }) => !canceled).sort((a, b) => a.at - b.at);
  if (prints.length === 0)
    throw new OperatorError(`${path} has no usable print of ${chain.underlying}`, 'Name another tape.');
  const from = Math.max(chain.asOf, prints.at(-1)!.at) - FLOW_WINDOW_DAYS * DAY_MS;
  return {
    large: largePrints(
      prints.filter(({ at }) => at >= from),
      minPremiumUsd,
    ).map(sumOf),
    tape: { count: prints.length, version: path, prints },
  };
}

const NAME_A_TAPE = 'Name a CSV or Parquet file of prints.';

/** Reads the newest chain of a file. Throws `OperatorError` without a chain of `ticker`, or for several underlyings without `ticker`. */
export async function chainOf(path: string, ticker: string | undefined, ports: Ports): Promise<Chain> {
  const deliveries = await Array.fromAsync(ports.readFile(path));
  const chains = deliveries.flatMap((each) => (each.kind === 'chain' ? [each.chain] : []));
  const refusal = deliveries.find((each) => each.kind === 'rejection');
  const named =
    ticker === undefined ? chains : chains.filter(({ underlying }) => underlying === canonicalTicker(ticker));
  const underlyings = [...new Set(named.map(({ underlying }) => underlying))];
  if (underlyings.length > 1) {
    throw new OperatorError(
      `${path} has chains of several underlyings`,
      `Choose one with --ticker: ${underlyings.join(', ')}.`,
    );
  }
  const newest = named.toSorted((a, b) => b.asOf - a.asOf)[0];
  if (newest) return newest;
  if (ticker !== undefined && chains.length > 0) {
    const others = [...new Set(chains.map(({ underlying }) => underlying))];
    throw new OperatorError(
      `${path} has no chain of ${canonicalTicker(ticker)}`,
      `Name a ticker of the file with --ticker: ${others.join(', ')}.`,
    );
  }
  throw new OperatorError(
    refusal?.kind === 'rejection' ? `${path}: ${refusal.reason}` : `${path} has no option chain`,
    'Use a chain as CSV or Parquet, a quote-table CSV or a delayed-quote JSON.',
  );
}

import { existsSync } from 'node:fs';
import { FLOW_WINDOW_DAYS, largePrints } from '../analytics/flow/flow.ts';
import { OperatorError } from '../core/errors.ts';
import { closeOf, DAY_MS, newYorkDate } from '../market/calendar.ts';
import type { Chain } from '../market/chain.ts';
import type { Delivery } from '../market/feed.ts';
import { canonicalTicker } from '../market/option-symbol.ts';
import { type Print, premiumOf, sumOf } from '../market/prints.ts';
import type { Ports } from '../server/cli-ports.ts';
import type { ChainPrints } from './gex-analysis.ts';

/** What flags state about a file. */
export type StatedInFlags = Awaited<ReturnType<Ports['stated']>>;

/** Throws `OperatorError` if a flag states something about a file, because a stored ticker needs nothing of it. */
export function rejectStated({ asOf, zone, close, map }: StatedTexts): void {
  if ([asOf, zone, close, map].every((each) => each === undefined)) return;
  throw new OperatorError(
    '--as-of, --zone, --close and --map are about a file, and the argument is a ticker',
    'Leave them out. `zomma history TICKER` has the levels of past days.',
  );
}

/** The flags that state what a file does not say. */
export type StatedTexts = Parameters<Ports['stated']>[0];

/**
 * Reads the prints of a chain's underlying from a tape. Returns each print once. Leaves out a print if any row with its id has the flag
 * `canceled`. Leaves out prints of contracts that expired before the chain's date, if the premium is below `minPremiumUsd`. Throws
 * `OperatorError` if the file does not exist or is not a tape, or if no print remains.
 */
export async function readPrintsFile(
  path: string,
  chain: Chain,
  minPremiumUsd: number,
  stated: StatedInFlags,
  ports: Ports,
): Promise<ChainPrints> {
  if (!existsSync(path)) throw new OperatorError(`there is no file ${path}`, NAME_A_TAPE);
  const byId = new Map<string, Print>();
  const chainDate = newYorkDate(chain.asOf);
  for await (const delivery of ports.readFile(path, stated)) {
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

/** A chain of a file, with what a person should know about it. */
export type ChainDelivery = Extract<Delivery, { kind: 'chain' }>;

const NAME_A_TAPE = 'Name a CSV or Parquet file of prints.';

/**
 * Reads the newest chain of a file, or of a file with several days that of the stated day. Throws `OperatorError` without a chain of `ticker` or of
 * that day, or for several underlyings without `ticker`.
 */
export async function chainOf(
  path: string,
  ticker: string | undefined,
  stated: StatedInFlags,
  ports: Ports,
): Promise<ChainDelivery> {
  const deliveries = await Array.fromAsync(ports.readFile(path, stated));
  const chains = deliveries.filter((each) => each.kind === 'chain');
  const refusals = deliveries.flatMap((each) => (each.kind === 'rejection' ? [each.reason] : []));
  const named =
    ticker === undefined ? chains : chains.filter(({ chain }) => chain.underlying === canonicalTicker(ticker));
  const underlyings = [...new Set(named.map(({ chain }) => chain.underlying))];
  if (underlyings.length > 1) {
    throw new OperatorError(
      `${path} has chains of several underlyings`,
      `Choose one with --ticker: ${underlyings.join(', ')}.`,
    );
  }
  const sorted = named.toSorted((a, b) => b.chain.asOf - a.chain.asOf);
  // A history may end with rows of contracts that have all settled.
  const live = sorted.find(({ chain }) => chain.series.some(({ settlesAt }) => settlesAt > chain.asOf));
  const newest =
    stated.asOf === undefined ? (live ?? sorted[0]) : chainOn(newYorkDate(stated.asOf), stated.asOf, sorted, path);
  if (newest)
    return { ...newest, notes: [...(newest.notes ?? []), ...refusals.map((reason) => `rejected: ${reason}`)] };
  if (ticker !== undefined && chains.length > 0) {
    const others = [...new Set(chains.map(({ chain }) => chain.underlying))];
    throw new OperatorError(
      `${path} has no chain of ${canonicalTicker(ticker)}`,
      `Name a ticker of the file with --ticker: ${others.join(', ')}.`,
    );
  }
  throw new OperatorError(
    refusals.length > 0 ? `${path}: ${refusals[0]}` : `${path} has no option chain`,
    'docs/vendors.md lists the files that Zomma reads as they are. `zomma map guess FILE` drafts a mapping for any other.',
  );
}

/** Returns the newest chain of a New York day up to `untilMs`. Throws `OperatorError` if there is none. */
function chainOn(day: string, untilMs: number, newestFirst: readonly ChainDelivery[], path: string) {
  const ofDay = newestFirst.filter(({ chain }) => newYorkDate(chain.asOf) === day);
  const [last, first] = [newestFirst[0], newestFirst.at(-1)];
  if (!last || !first) return undefined;
  const isDay = untilMs === closeOf(day);
  const found = ofDay.find(({ chain }) => chain.asOf <= untilMs) ?? (isDay ? ofDay.at(-1) : undefined);
  if (found) return found;
  if (ofDay.length > 0)
    throw new OperatorError(
      `${path} has no chain of ${day} up to ${timeText(untilMs)}: its own times count, the first of which is ${timeText(ofDay.at(-1)!.chain.asOf)}`,
      'Name the day alone, or a later time, with --as-of.',
    );
  throw new OperatorError(
    `${path} has no chain of ${day}`,
    `Its chains are of ${newYorkDate(first.chain.asOf)} to ${newYorkDate(last.chain.asOf)}. Name a day with --as-of.`,
  );
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

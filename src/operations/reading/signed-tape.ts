import { countAllocated } from '../../core/garbage.ts';
import type { Step, StepCache, Steps } from '../../core/steps.ts';
import { DAY_MS, iso, tradesFrom, tradesWithin } from '../../market/calendar.ts';
import type { Chain } from '../../market/chain.ts';
import type { StoredTape, Stretch } from '../../market/tape.ts';
import { type Context, hasPassed } from '../engine/operation.ts';
import { tapeCost } from '../engine/request-cost.ts';
import { defaulted, integerIn, number } from '../engine/schemas.ts';
import { ticker } from '../engine/shared-fields.ts';

/** Length of the longest window, calendar days. */
const DAYS_MAX = 366;

/** The arguments that select prints: the ticker, the window and the minimum premium. */
export const tapeInput = {
  ticker,
  days: defaulted(
    integerIn(
      'Length of the window in calendar days. It ends at the snapshot or at the last print, whichever is later.',
      1,
      DAYS_MAX,
    ),
    30,
  ),
  min_premium: defaulted(number('Minimum premium of a print, dollars.', { minimum: 0, maximum: 1e12 }), 0),
};

/** Returns the result of `work` for the prints of the last `days` days, in steps. Results are cached while the prints are unchanged. */
export function* cachedTapeResult<Result>(
  cache: StepCache<Chain, Result>,
  chain: Chain,
  { days, min_premium, limit }: { readonly days: number; readonly min_premium: number; readonly limit?: number },
  { market }: Context,
  work: (tape: StoredTape) => Steps<Result>,
): Steps<Result> {
  const tape = market.tape(chain, days);
  const key = `${tape.version} ${min_premium} ${limit}`;
  const tokens = tapeCost(tape, min_premium);
  return yield* cache.of(chain, key, { message: 'Reading the tape', tokens, steps: () => work(tape) });
}

/** Maximum number of cached results per chain. */
export const CACHED_RESULTS_MAX = 4;

/** Calls `take` with runs of consecutive prints in at most `mostParts` parts, in steps. A call takes a few milliseconds. */
export function* forEachStretch(
  { stretches }: Pick<StoredTape, 'stretches'>,
  mostParts: number,
  take: (stretch: Stretch) => void,
  fromMs?: number,
): Generator<Step, void> {
  let [since, turns] = [performance.now(), 0];
  let before = since;
  for (const stretch of stretches(mostParts, fromMs)) {
    take(stretch);
    countAllocated(STRETCH_BYTES);
    const now = performance.now();
    // The next run of prints probably takes about as long as the last run.
    const isRoom = now - since + (now - before) < TURN_MS;
    before = now;
    if (isRoom) continue;
    yield { message: `Finding the side of prints of ${stretch.day}`, total: ++turns };
    since = performance.now();
    before = since;
  }
}

/** Size of the decoded columns of a run of prints, bytes. */
const STRETCH_BYTES = 1024 * 1024;

/** Intended length of a step, ms. A step with a single run of prints may take longer. */
const TURN_MS = 12;

/** Returns notes on gaps in the prints of the last `days` days, or a note that the ticker has no prints. */
export function tapeNotes(chain: Chain, days: number, context: Context): string[] {
  if (context.market.hasPrints(chain.underlying)) return gapNotes(chain, days, context);
  return ['The ticker has no prints, so its flow is not known.'];
}

/** Maximum number of gaps that a note names. The note states only the number of all other gaps. */
const NAMED_GAPS_MAX = 3;

/** Returns a note on the gaps since `days` days before a snapshot. In a gap, the feed received no prints although the exchange was open. */
export function gapNotes(chain: Chain, days: number, context: Context): string[] {
  if (chain.simulated) return [];
  const isPast = (atMs: number) => hasPassed(atMs, context);
  const fromMs = chain.asOf - days * DAY_MS;
  // A gap counts if the exchange was open in the gap. A gap without an end lasts until the present.
  const gaps = context
    .gapsIn(fromMs, Number.MAX_SAFE_INTEGER)
    .filter(({ from, to }) =>
      to === null ? isPast(Math.max(tradesFrom(from), from, fromMs)) : isPast(from) && tradesWithin(from, to),
    );
  const named = gaps
    .slice(0, NAMED_GAPS_MAX)
    .map(({ from, to, reason }) => `${iso(from)} ${to === null || !isPast(to) ? 'on' : `to ${iso(to)}`} (${reason})`);
  if (named.length === 0) return [];
  const more = gaps.length - named.length;
  return [`No trades were received from ${named.join(', ')}${more > 0 ? ` and in ${more} earlier periods` : ''}.`];
}

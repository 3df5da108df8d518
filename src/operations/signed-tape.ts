import { Type } from '@sinclair/typebox';
import { countAllocated } from '../garbage.ts';
import type { Chain } from '../market/chain.ts';
import { type Stretch, stretchesOf, type Tape } from '../market/tape.ts';
import type { Step, StepCache, Steps } from '../steps.ts';
import { gapNotes } from './gap-notes.ts';
import type { Context } from './operation.ts';
import { tapePrice } from './prices.ts';
import { defaulted, number, ticker } from './schemas.ts';

/** The longest window, calendar days. */
const DAYS_MAX = 366;

/** Whose prints, over how long, and how large. */
export const tapeInput = {
  ticker,
  days: defaulted(
    Type.Integer({
      description: 'Calendar days that end at the later of the snapshot and the last print.',
      minimum: 1,
      maximum: DAYS_MAX,
    }),
    30,
  ),
  min_premium: defaulted(number('Least premium of a print that counts, dollars.', { minimum: 0, maximum: 1e12 }), 0),
};

/**
 * What `work` makes of the prints of a chain's underlying over some days. A long tape takes a while: others have their turns, and the
 * last results are cached while the tape is the same.
 */
export function* ofSignedTape<Result>(
  cache: StepCache<Chain, Result>,
  chain: Chain,
  { days, min_premium, limit }: { readonly days: number; readonly min_premium: number; readonly limit?: number },
  { market }: Context,
  work: (tape: Tape) => Steps<Result>,
): Steps<Result> {
  const tape = market.tape(chain, days);
  const key = `${tape.mark} ${min_premium} ${limit}`;
  const tokens = tapePrice(tape, min_premium);
  return yield* cache.of(chain, key, { message: 'Reading the tape', tokens, steps: () => work(tape) });
}

/** Questions of one chain whose results are cached. */
export const QUESTIONS_CACHED = 4;

/** The stretches of a tape, with turns for others between them. `take` has some milliseconds' work with each. */
export function* throughTape(
  tape: Tape,
  mostParts: number,
  take: (stretch: Stretch) => void,
  fromMs?: number,
): Generator<Step, void> {
  let [since, turns] = [performance.now(), 0];
  let before = since;
  for (const stretch of stretchesOf(tape, mostParts, fromMs)) {
    take(stretch);
    countAllocated(STRETCH_BYTES);
    const now = performance.now();
    // The next one takes about as long as this one.
    const isRoom = now - since + (now - before) < TURN_MS;
    before = now;
    if (isRoom) continue;
    yield { message: `Signing prints of ${stretch.day}`, total: ++turns };
    since = performance.now();
    before = since;
  }
}

/** Columns of a stretch, decoded. */
const STRETCH_BYTES = 1024 * 1024;

/** After so long others have their turn; a stretch alone may take longer. */
const TURN_MS = 12;

export function tapeNotes(chain: Chain, days: number, context: Context): string[] {
  if (context.market.hasPrints(chain.underlying)) return gapNotes(chain, days, context);
  return ['No prints of it are known: there is no flow to sign.'];
}

import { type ChainReadOptions, DEFAULT_OPTIONS, DEFAULT_SIGN } from '../../analytics/chain/options.ts';
import { prepareChain, requireWeights } from '../../analytics/chain/prepare.ts';
import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import { type GexLevels, gexLevels } from '../../analytics/exposure/gex-levels.ts';
import { horizonLevels, type LevelsByHorizon } from '../../analytics/exposure/horizons.ts';
import { directionalPremium, FLOW_WINDOW_DAYS } from '../../analytics/flow/flow.ts';
import { shownName } from '../../core/clean-text.ts';
import { StepCache, type Steps } from '../../core/steps.ts';
import { addDays, closeOf, DAY_MS, iso, isStale, newYorkDate } from '../../market/calendar.ts';
import { type Chain, hasOpenInterest, type Series } from '../../market/chain.ts';
import { AHEAD_MS } from '../../market/market.ts';
import type { Close, PrintSum } from '../../market/prints.ts';
import { type Context, hasPassed, type Provenance } from '../engine/operation.ts';
import { analysisCost } from '../engine/request-cost.ts';
import { number, textField } from '../engine/schemas.ts';
import { withSign } from './dealer-sign.ts';
import { expirySelection } from './expiry-choice.ts';

/** A ticker's newest chain, the prepared chain, and the ticker's large prints. */
export interface MarketReading {
  readonly chain: Chain;
  readonly prepared: PreparedChain;
  /** The sums of the large prints in the flow window. Empty if the ticker has no prints. */
  readonly large: readonly PrintSum[];
}

/** Prepares a ticker's newest chain with the default options. Throws `ClientError` if the ticker has no chain. */
export function readMarket(ticker: string, context: Context): Steps<MarketReading> {
  return readMarketAs({ ...DEFAULT_OPTIONS, sign: DEFAULT_SIGN }, ticker, context);
}

/** Prepares one expiry of the newest chain, or all. Throws `ClientError` without a chain, and for an unlisted or settled expiry. */
export function readExpiry(expiry: string | undefined, ticker: string, context: Context): Steps<MarketReading> {
  return readMarketAs({ ...DEFAULT_OPTIONS, sign: DEFAULT_SIGN, expiries: expirySelection(expiry) }, ticker, context);
}

/** Prepares a ticker's newest chain with the given options. Throws `ClientError` if the ticker has no chain. */
export function* readMarketAs(options: ChainReadOptions, ticker: string, context: Context): Steps<MarketReading> {
  const prepared = yield* preparedChainOf(options, ticker, context);
  return { chain: prepared.chain, prepared, large: largePrintsOf(prepared.chain, context) };
}

/** Prepares a ticker's newest chain with the given options and the stored dividends. Throws `ClientError` if the ticker has no chain. */
export function* preparedChainOf(
  { sign, ...options }: ChainReadOptions,
  ticker: string,
  context: Context,
): Steps<PreparedChain> {
  const chain = context.market.chain(ticker);
  const withDividends = { ...options, cashDividends: context.market.dividends(chain) };
  return yield* withSign(
    sign,
    yield* prepareChain(chain, withDividends, analysisCost(chain), knownUntil(chain, context)),
    context,
  );
}

function largePrintsOf(chain: Chain, { market, largePrintMinUsd }: Context): readonly PrintSum[] {
  return market.flow(chain, FLOW_WINDOW_DAYS, largePrintMinUsd);
}

/**
 * Returns the levels of a market reading. The levels are cached by their only inputs, which are the prepared chain and its premium. Throws
 * `ClientError` if the chain has no open interest.
 */
export function levelsOf({ prepared, large }: MarketReading): Steps<GexLevels> {
  requireWeights(prepared);
  const premium = directionalPremium(large);
  return levels.of(prepared, JSON.stringify([...premium]), {
    message: 'Finding levels',
    steps: () => gexLevels(prepared, premium),
  });
}

const levels = new StepCache<PreparedChain, GexLevels>(() => 1);

/** Returns the levels of the shorter horizons of a market reading, cached like `levelsOf`. Throws the errors of `levelsOf`. */
export function* levelsByHorizonOf(reading: MarketReading): Steps<LevelsByHorizon> {
  const { prepared, large } = reading;
  const whole = yield* levelsOf(reading);
  const premium = directionalPremium(large);
  return yield* levelsByHorizon.of(prepared, JSON.stringify([...premium]), {
    message: 'Finding the levels of shorter horizons',
    steps: () => horizonLevels(prepared, whole, premium),
  });
}

const levelsByHorizon = new StepCache<PreparedChain, LevelsByHorizon>(() => 1);

/** The first fields of an answer that is computed from a chain. */
export const headFields = {
  ticker: textField('Underlying symbol.'),
  spot_price: number('Spot of the snapshot, dollars.'),
};

export function reportHead({ underlying, spot }: Chain) {
  return { ticker: underlying, spot_price: spot };
}

/** The note of every answer from the simulated market. */
export const SIMULATED_NOTE = 'Simulated market: no real quotes.';

/** The note of an answer that depends on `whale_fiat_kinetic`, if the ticker has no prints. */
export const KINETIC_FROM_VOLUMES =
  'The ticker has no prints, so whale_fiat_kinetic is from daily volumes, which all count as bought.';

/** The note of an answer whose argument is `whale_fiat_kinetic`, if the ticker has prints. The notes of the radar have the numbers. */
export const KINETIC_FROM_PRINTS =
  'whale_fiat_kinetic of run_strategic_omni_radar counts all prints as bought, and leaves out legs of spreads and settled expiries.';

/** Returns a note for an answer of which one expects open interest or levels, if the chain has no open interest. */
export function openInterestNotes(chain: Pick<Chain, 'openInterest'>): string[] {
  return hasOpenInterest(chain) ? [] : ['The chain has no open interest.'];
}

/** Returns the provenance of an answer that is computed from a chain. `notes` are caveats on the figures of this answer. */
export function provenanceOf(
  chain: Pick<Chain, 'source' | 'simulated' | 'asOf'>,
  context: Context,
  notes: readonly string[] = [],
): Provenance {
  return {
    source: shownName(chain.source),
    simulated: chain.simulated,
    as_of: iso(chain.asOf),
    ...ageOf(chain.asOf, (context.cacheClock ?? context).nowMs(), context.staleAfterMs),
    notes: [...(chain.simulated ? [SIMULATED_NOTE] : []), ...printsRemoved(chain, context), ...notes],
  };
}

/** Returns the age of quotes at a moment in whole seconds, and whether the quotes are stale. All arguments are ms since the epoch. */
function ageOf(asOf: number, nowMs: number, staleAfterMs: number): Age {
  return {
    age_s: Math.round((nowMs - asOf) / 1000),
    stale: asOf > nowMs + AHEAD_MS || isStale(asOf, nowMs, staleAfterMs),
  };
}

type Age = Pick<Provenance, 'age_s' | 'stale'>;

/** Returns the age of quotes and the period with this age, `untilMs` excluded. The period is empty if the quotes become stale within it. */
function ageWithPeriod(asOf: number, nowMs: number, staleAfterMs: number) {
  const age = ageOf(asOf, nowMs, staleAfterMs);
  const untilMs = asOf + 1000 * age.age_s + 500;
  const fromMs = untilMs - 1000;
  const isSame = [fromMs, untilMs - 1].every((atMs) => ageOf(asOf, atMs, staleAfterMs).stale === age.stale);
  return { age, fromMs, untilMs: isSame ? untilMs : fromMs };
}

/** Returns a function that returns a provenance with its present age. The function returns the same object while the age stays the same. */
export function aging(provenance: Provenance, { nowMs, staleAfterMs }: Context): () => Provenance {
  let [present, fromMs, untilMs] = [provenance, 0, 0];
  return () => {
    const now = nowMs();
    if (now >= fromMs && now < untilMs) return present;
    const period = ageWithPeriod(Date.parse(provenance.as_of), now, staleAfterMs);
    [present, fromMs, untilMs] = [{ ...provenance, ...period.age }, period.fromMs, period.untilMs];
    return present;
  };
}

/** Returns the age of quotes for the figures of an answer. Unlike the age in the provenance, such an age is not written anew. */
export function ageInFigures(asOf: number, context: Context): Age {
  const nowMs = (context.cacheClock ?? context).nowMs();
  if (!context.cacheClock) return ageOf(asOf, nowMs, context.staleAfterMs);
  const { age, fromMs, untilMs } = ageWithPeriod(asOf, nowMs, context.staleAfterMs);
  // The call of `nowMs` says that the answer cannot be cached.
  if (fromMs === untilMs) context.nowMs();
  for (const atMs of [fromMs, untilMs]) hasPassed(atMs, context);
  return age;
}

/** Maximum number of expiries that a note names. */
const SETTLED_NAMED = 5;

/**
 * Returns a function that returns the moment up to which settlements are known, ms since the epoch: now, or that of the chain in a replay.
 * Only errors state this moment. An answer that reads the clock cannot be cached, so the clock is read for errors alone.
 */
export function knownUntil({ asOf }: Pick<Chain, 'asOf'>, { market, nowMs }: Context): () => number {
  return market.isPast ? () => asOf : nowMs;
}

/** Returns a note if some of these series have settled since the quotes were taken. In a replay, nothing has happened since. */
export function settledSince(series: readonly Pick<Series, 'expiry' | 'settlesAt'>[], context: Context): string[] {
  const settled = context.market.isPast ? [] : series.filter(({ settlesAt }) => hasPassed(settlesAt, context));
  if (settled.length === 0) return [];
  const expiries = [...new Set(settled.map(({ expiry }) => expiry))].sort();
  const more = expiries.length > SETTLED_NAMED ? ` and ${expiries.length - SETTLED_NAMED} more` : '';
  return [`Settled since the quotes, so not live: ${expiries.slice(0, SETTLED_NAMED).join(', ')}${more}.`];
}

/** Returns a note for a replay whose flow window begins before the oldest stored prints, because the flow of that time is not known. */
function printsRemoved({ asOf }: Pick<Chain, 'asOf'>, { market }: Context): string[] {
  const storedFrom = market.isPast ? market.printsKeptFrom() : 0;
  if (asOf - FLOW_WINDOW_DAYS * DAY_MS >= storedFrom) return [];
  return [`Prints before ${iso(storedFrom)} are no longer stored: flow figures do not include them.`];
}

/** Returns the last `limit` closes known at a snapshot, oldest first. Before the close of its day, the spot replaces that close. */
export function closesKnown(
  { underlying, asOf, spot, simulated }: Pick<Chain, 'underlying' | 'asOf' | 'spot' | 'simulated'>,
  limit: number,
  { market }: Context,
): Close[] {
  const today = newYorkDate(asOf);
  if (asOf >= closeOf(today)) return market.closes(underlying, today, limit);
  const before = market.closes(underlying, addDays(today, -1), limit - 1);
  return [...before, { ticker: underlying, date: today, close: spot, volume: null, simulated }];
}

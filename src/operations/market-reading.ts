import { DEFAULT_OPTIONS, DEFAULT_SIGN, type ReadOptions } from '../analytics/chain/options.ts';
import { prepareInSteps } from '../analytics/chain/prepare.ts';
import type { PreparedChain } from '../analytics/chain/prepared-chain.ts';
import { type GexLevels, gexLevelsInSteps } from '../analytics/exposure/gex-levels.ts';
import { FLOW_WINDOW_DAYS, opinionPremium } from '../analytics/flow/flow.ts';
import { shownName } from '../clean-text.ts';
import { addDays, closeOf, DAY_MS, newYorkDate } from '../market/calendar.ts';
import type { Chain } from '../market/chain.ts';
import type { Close, PrintSum } from '../market/prints.ts';
import { StepCache, type Steps } from '../steps.ts';
import { signedAs } from './dealer-sign.ts';
import type { Context, Provenance } from './operation.ts';
import { analysisPrice } from './prices.ts';

/** A ticker's newest chain, by the default options unless others are asked for, with the large prints around it. */
export interface MarketReading {
  readonly chain: Chain;
  readonly prepared: PreparedChain;
  /** Large prints of the flow window, added up; empty also where the feed has none. */
  readonly large: readonly PrintSum[];
}

export function readMarket(ticker: string, context: Context): Steps<MarketReading> {
  return readMarketAs({ ...DEFAULT_OPTIONS, sign: DEFAULT_SIGN }, ticker, context);
}

/** The same under other options. */
export function* readMarketAs(
  { sign, ...options }: ReadOptions,
  ticker: string,
  context: Context,
): Steps<MarketReading> {
  const chain = context.market.chain(ticker);
  const prepared = yield* signedAs(sign, yield* prepareInSteps(chain, options, analysisPrice(chain)), context);
  return { chain, prepared, large: largeAround(chain, context) };
}

function largeAround(chain: Chain, { market, largePrintMinUsd }: Context): readonly PrintSum[] {
  return market.flow(chain, FLOW_WINDOW_DAYS, largePrintMinUsd);
}

/** Levels of a reading. Kept while the same chain is read: they are a function of it and of the premium by series. */
export function levelsOf({ prepared, large }: MarketReading): Steps<GexLevels> {
  const premium = opinionPremium(large);
  return levels.of(prepared, JSON.stringify([...premium]), {
    message: 'Finding levels',
    steps: () => gexLevelsInSteps(prepared, premium),
  });
}

const levels = new StepCache<PreparedChain, GexLevels>(() => 1);

export function provenanceOf(chain: Chain, context: Context, notes: readonly string[] = []): Provenance {
  const ageMs = context.nowMs() - chain.asOf;
  return {
    source: shownName(chain.source),
    simulated: chain.simulated,
    as_of: new Date(chain.asOf).toISOString(),
    age_s: Math.max(0, Math.round(ageMs / 1000)),
    stale: ageMs > context.staleAfterMs,
    notes: [
      ...(chain.simulated ? ['Simulated market: no real quotes.'] : []),
      ...printsRemoved(chain, context),
      ...notes,
    ],
  };
}

/** Of a moment whose flow reaches back to prints that are kept no more: nobody should take their absence for quiet days. */
function printsRemoved({ asOf }: Chain, { market }: Context): string[] {
  const keptFrom = market.isPast ? market.printsKeptFrom() : 0;
  if (asOf - FLOW_WINDOW_DAYS * DAY_MS >= keptFrom) return [];
  return [`Prints before ${new Date(keptFrom).toISOString()} are no longer kept: what is made of them lacks theirs.`];
}

/** The last `limit` daily closes as the snapshot knows them, oldest first: a day under way closes at its spot. */
export function closesKnown(chain: Chain, limit: number, { market }: Context): Close[] {
  const { underlying, asOf, spot, simulated } = chain;
  const today = newYorkDate(asOf);
  if (asOf >= closeOf(today)) return market.closes(underlying, today, limit);
  const before = market.closes(underlying, addDays(today, -1), limit - 1);
  return [...before, { ticker: underlying, date: today, close: spot, volume: null, simulated }];
}

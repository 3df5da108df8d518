import { Type } from '@sinclair/typebox';
import type { PreparedChain } from '../analytics/chain/prepared-chain.ts';
import type { GexLevels } from '../analytics/exposure/gex-levels.ts';
import { signedShare } from '../analytics/flow/flow-sign.ts';
import { averageVolume } from '../analytics/returns.ts';
import { shownName } from '../clean-text.ts';
import { addDays, closeOf, newYorkDate } from '../market/calendar.ts';
import type { Chain } from '../market/chain.ts';
import type { LevelEvent } from '../market/level-record.ts';
import type { Steps } from '../steps.ts';
import { chainInput, optionsOf } from './analysis-options.ts';
import { byFlowLens, byPrints, byVolume, byVolumeLens, zeroDte, zeroDteLens } from './gex-lens.ts';
import { type GexReport, gexReport, MILLION, reportGex } from './gex-report.ts';
import { levelsOf, type MarketReading, provenanceOf, readMarketAs, SIMULATED_NOTE } from './market-reading.ts';
import { type Context, defineOperation, type Provenance } from './operation.ts';
import { nullable, number, ticker } from './schemas.ts';

/** Trading days of the average daily volume. */
const VOLUME_DAYS = 20;

const hedging = Type.Object(
  {
    shares_per_pct: number('Shares that dealers trade per 1 % move: net GEX over spot, + against the move, - with it.'),
    average_daily_volume: nullable(
      Type.Number(),
      `Shares per day, mean of the last ${VOLUME_DAYS} days with a known volume; null if there are none.`,
    ),
    share_of_volume_pct: nullable(Type.Number(), 'These shares, percent of that volume.'),
  },
  { additionalProperties: false, description: "Dealers' hedging against the daily volume of the underlying." },
);

/** Keys of the REST answer. */
const REST_KEYS = [
  'ticker',
  'spot_price',
  'expiry',
  'max_pain',
  'call_wall',
  'put_wall',
  'gex_flip',
  'net_gex_mil',
] as const;

/** Keys of the tool's default answer. */
const NODES = ['ticker', 'spot_price', 'whale_expiry', 'max_pain', 'call_wall', 'put_wall', 'gex_flip'] as const;

export const getLiveGexNodes = defineOperation({
  name: 'get_live_gex_nodes',
  ofMarket: true,
  title: 'GEX levels',
  description:
    "A ticker's price levels from its newest option chain, dollars: spot, call wall, put wall, gamma flip, max pain of the " +
    'dominant expiry. Dealers are assumed long calls, short puts.',
  example: { ticker: 'SPY' },
  input: Type.Object({ ticker }, { additionalProperties: false }),
  full: Type.Object(
    {
      ...gexReport.properties,
      by_volume: byVolumeLens,
      by_flow: nullable(byFlowLens, 'Null if no contract has a print.'),
      zero_dte: nullable(zeroDteLens, "Null if nothing unsettled expires on the snapshot's day."),
      hedging,
    },
    { additionalProperties: false },
  ),
  tool: { answers: NODES },
  rest: {
    method: 'GET',
    path: '/api/v1/nodes/gex/{ticker}',
    input: chainInput,
    answers: REST_KEYS,
  },
  *run(input, context, isWanted) {
    const reading = yield* readMarketAs(optionsOf(input), input.ticker, context);
    const { prepared } = reading;
    const levels = yield* levelsOf(reading);
    const report = reportGex(prepared, levels);
    return {
      result: {
        ...report,
        // The default answer has no lenses.
        ...((isWanted('by_flow') ? yield* lensesOf(reading, levels, context) : {}) as Lenses),
      },
      provenance: provenanceOf(reading.chain, context, [...caveats(report), ...signCaveats(prepared)]),
    };
  },
});

type Lenses = ReturnType<typeof lensesOf> extends Steps<infer Result> ? Result : never;

function* lensesOf({ chain, prepared }: MarketReading, { exposures }: GexLevels, context: Context) {
  return {
    by_volume: yield* byVolume(prepared),
    by_flow: yield* byPrints(prepared, context),
    zero_dte: yield* zeroDte(prepared, exposures.grossGex),
    hedging: hedgingOf(chain, exposures.gex, context),
  };
}

function hedgingOf({ underlying, asOf, spot }: Chain, gex: number, { market }: Context) {
  const shares = gex / spot;
  const today = newYorkDate(asOf);
  // The volume of a day counts after the close.
  const last = asOf >= closeOf(today) ? today : addDays(today, -1);
  const volume = averageVolume(market.closes(underlying, last, VOLUME_DAYS));
  return {
    shares_per_pct: shares,
    average_daily_volume: volume,
    share_of_volume_pct: volume === null ? null : (100 * Math.abs(shares)) / volume,
  };
}

type RecordedGexNodes = Pick<GexReport, (typeof REST_KEYS)[number]> & {
  readonly provenance: Omit<Provenance, 'age_s' | 'stale'>;
};

/**
 * The REST answer for the snapshot of a level record, for events. The answer has no age, so an event is the same whenever it is sent. The
 * compiler requires every key of the REST answer here.
 */
export function recordedGexNodes(levels: LevelEvent): RecordedGexNodes {
  return {
    ticker: levels.underlying,
    spot_price: levels.spot,
    expiry: levels.expiry,
    max_pain: levels.maxPain,
    call_wall: levels.callWall,
    put_wall: levels.putWall,
    gex_flip: levels.gexFlip,
    net_gex_mil: levels.netGex / MILLION,
    provenance: {
      source: shownName(levels.source),
      simulated: levels.simulated,
      as_of: new Date(levels.asOf).toISOString(),
      notes: [...(levels.simulated ? [SIMULATED_NOTE] : []), ...(levels.flipResolved ? [] : [UNRESOLVED_FLIP_NOTE])],
    },
  };
}

const UNRESOLVED_FLIP_NOTE = 'Net gamma keeps its sign within 50 % of spot: gex_flip is where it is nearest 0.';

/** Caveats that the figures of the default answer do not show. */
function caveats(report: GexReport): string[] {
  const { used, left_out } = report.contracts;
  const notes: string[] = [];
  if (left_out.no_volatility === used)
    notes.push('No contract has a volatility, so gamma is unknown and counts as zero.');
  if (!report.flip_resolved) notes.push(UNRESOLVED_FLIP_NOTE);
  if (report.call_wall_sided && report.call_wall_unsided !== report.call_wall)
    notes.push(`The strike with most call gamma is below spot, at ${report.call_wall_unsided}.`);
  if (report.put_wall_sided && report.put_wall_unsided !== report.put_wall)
    notes.push(`The strike with most put gamma is above spot, at ${report.put_wall_unsided}.`);
  if (!report.call_wall_sided) notes.push('No strike is at or above spot: the call wall is the nearest strike.');
  if (!report.put_wall_sided) notes.push('No strike is at or below spot: the put wall is the nearest strike.');
  return notes;
}

function signCaveats(prepared: PreparedChain): string[] {
  if (prepared.sign !== 'flow') return [];
  const share = (100 * signedShare(prepared).share).toPrecision(3);
  return [`Dealers are opposite to signed prints, which are ${share} % of open interest; the rest counts nothing.`];
}

import { Type } from '@sinclair/typebox';
import { DEFAULT_SIGN } from '../../analytics/chain/options.ts';
import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import { netGexAt } from '../../analytics/exposure/exposures-by-strike.ts';
import type { GexLevels, LevelSet } from '../../analytics/exposure/gex-levels.ts';
import { gammaOfRecord, gammaRegime, signMarginPct } from '../../analytics/exposure/sign-margin.ts';
import type { Walls } from '../../analytics/exposure/walls.ts';
import type { FittedSurface } from '../../analytics/surface/fitted-surface.ts';
import { shownName } from '../../core/clean-text.ts';
import type { Steps } from '../../core/steps.ts';
import { newYorkDate } from '../../market/calendar.ts';
import type { Chain } from '../../market/chain.ts';
import type { LevelEvent } from '../../market/level-record.ts';
import { answerSchema, type Context, defineOperation, ORIGIN, type Provenance } from '../engine/operation.ts';
import { namedObject, number, objectOf } from '../engine/schemas.ts';
import { ticker } from '../engine/shared-fields.ts';
import { nullable, numberOrNull, textList } from '../engine/wrapped-schemas.ts';
import { flipInput, optionsWithExpiry } from '../reading/analysis-options.ts';
import { surfaceOfPrepared } from '../reading/chain-surface.ts';
import { averageDailyVolume, averageDailyVolumeOf, shareOfVolumePct } from '../reading/daily-volume.ts';
import { flowSignNotes, thinFlowNotes } from '../reading/dealer-sign.ts';
import { expiryChoice } from '../reading/expiry-choice.ts';
import {
  levelsByHorizonOf,
  levelsOf,
  type MarketReading,
  openInterestNotes,
  provenanceOf,
  readMarketAs,
  SIMULATED_NOTE,
  settledSince,
} from '../reading/market-reading.ts';
import { charmNotes } from './charm.ts';
import { gammaNotes, regimeNotes, UNRESOLVED_FLIP_NOTE } from './gamma-regime.ts';
import { type GexReport, gexReport, MILLION, reportGex } from './gex-report.ts';
import { crossing, crossingKind } from './level-crossings.ts';
import {
  comparedLevels,
  type Horizons,
  horizonsOf,
  levelsByHorizon,
  monthNotes,
  storedMonthNotes,
} from './level-horizons.ts';
import {
  byFlowVariant,
  byPrints,
  byVolume,
  byVolumeVariant,
  openPositionsOf,
  zeroDte,
  zeroDteVariant,
} from './level-variants.ts';
import { signFields, signFiguresOf } from './sign-figures.ts';

const hedging = namedObject('HedgingCompared', "Dealers' hedging compared with the daily volume of the underlying.", {
  shares_per_pct: number(
    'Shares that dealers trade per 1 % move, net GEX over spot: + if they trade against the move, - if with it.',
  ),
  average_daily_volume: averageDailyVolume,
  share_of_volume_pct: numberOrNull('Absolute shares_per_pct, percent of average_daily_volume; null if that is null.'),
});

/** The keys of the REST answer. */
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

/** The keys of the tool's default answer. */
const NODES = ['ticker', 'spot_price', 'whale_expiry', 'max_pain', 'call_wall', 'put_wall', 'gex_flip'] as const;

export const getLiveGexNodes = defineOperation({
  name: 'get_live_gex_nodes',
  ofMarket: true,
  title: 'GEX levels',
  page: 'ticker',
  description:
    "A ticker's price levels from its newest option chain, dollars: spot_price, call_wall (resistance), put_wall (support), gex_flip, and " +
    'max_pain of the dominant expiry, whale_expiry. net_gex_mil: million dollars per 1 % move, + if dealers damp moves, - if they amplify them. Dealers are ' +
    'assumed long calls and short puts.',
  example: { ticker: 'SPY' },
  input: objectOf({ ticker, expiry: expiryChoice }),
  full: objectOf({
    ...gexReport.properties,
    by_volume: byVolumeVariant,
    by_flow: nullable(
      byFlowVariant,
      'The levels by flow; null if no live contract has a print, or without open interest.',
    ),
    zero_dte: nullable(
      zeroDteVariant,
      "The levels of the contracts that expire on the snapshot's day; null if all of them have settled, none is selected, or none has gamma.",
    ),
    hedging,
    ...signFields,
    horizons: levelsByHorizon,
  }),
  tool: {
    question: 'walls, gamma flip, max pain',
    method: 'gex-nodes-get_live_gex_nodes-get-apiv1nodesgexticker',
    units: ['dollars', 'million dollars per 1 % move, + if dealers damp moves, - if they amplify'],
    answers: NODES,
    echoes: ['regime', 'net_gex_mil'],
  },
  rest: {
    method: 'GET',
    path: '/api/v1/nodes/gex/{ticker}',
    input: objectOf({ ...flipInput.properties, expiry: expiryChoice }),
    answers: REST_KEYS,
    isContract: true,
  },
  *run(input, context, isWanted) {
    const reading = yield* readMarketAs(optionsWithExpiry(input), input.ticker, context);
    // Variants are computed only for the extended answer, because the default answers of the tool and the route have no variants.
    const { result, provenance } = yield* gexNodesOf(reading, context, isWanted('by_flow'));
    const horizons = isWanted('horizons') ? yield* horizonsOf(reading) : undefined;
    return { result: { ...result, horizons: horizons as Horizons }, provenance };
  },
});

/** Computes the answer for a market reading, without the levels by horizon. The answer has variants if `withVariants` is true. */
export function* gexNodesOf(reading: MarketReading, context: Context, withVariants: boolean) {
  const { chain, prepared } = reading;
  const levels = yield* levelsOf(reading);
  const surface = withVariants ? yield* surfaceOfPrepared(prepared) : undefined;
  const variants = surface ? yield* variantsOf(reading, levels, surface, context) : undefined;
  const { '35d': month } = yield* levelsByHorizonOf(reading);
  const byFlow = prepared.sign === 'flow' ? undefined : variants?.by_flow;
  return {
    result: { ...reportGex(prepared, levels, surface), ...(variants as LevelVariants) },
    provenance: provenanceOf(chain, context, [
      ...openInterestNotes(chain),
      ...settledSince([levels.dominant.series], context),
      ...monthNotes(comparedLevels(levels), month && comparedLevels(month)),
      ...levelNotes(prepared, levels),
      ...(withVariants ? charmNotes(prepared) : []),
      ...(variants?.zero_dte === null ? todayNotes(prepared) : []),
      ...(byFlow ? thinFlowNotes('by_flow', byFlow.signed_share_pct) : []),
    ]),
  };
}

/** Returns the caveats on the levels of a prepared chain. Every answer with these levels has them. */
export function levelNotes(prepared: PreparedChain, { flip, walls, exposures }: LevelSet): string[] {
  return [
    ...gammaNotes(prepared, flip),
    ...wallNotes(prepared, walls),
    ...wallSignNotes(prepared, walls),
    ...regimeNotes(exposures),
    ...flowSignNotes(prepared),
  ];
}

type LevelVariants = ReturnType<typeof variantsOf> extends Steps<infer Result> ? Result : never;

function* variantsOf(
  { chain, prepared }: MarketReading,
  { exposures }: GexLevels,
  surface: FittedSurface,
  context: Context,
) {
  return {
    by_volume: yield* byVolume(prepared),
    by_flow: yield* byPrints(prepared, context),
    zero_dte: yield* zeroDte(prepared, surface, exposures.grossGex, context),
    hedging: hedgingOf(chain, exposures.gex, context),
    ...(yield* signFiguresOf(prepared, yield* openPositionsOf(prepared, context))),
  };
}

function hedgingOf(chain: Chain, gex: number, context: Context) {
  const shares = gex / chain.spot;
  const volume = averageDailyVolumeOf(chain, context);
  return {
    shares_per_pct: shares,
    average_daily_volume: volume,
    share_of_volume_pct: shareOfVolumePct(shares, volume),
  };
}

const EVENT_KEYS = [
  ...REST_KEYS,
  ...(['regime', 'sign_margin_pct', 'flip_resolved', 'gross_gex_mil'] as const),
] as const satisfies readonly (keyof GexReport)[];

/** The schema of the data of a live event: the answer of `recordedGexNodes`. */
export const levelsEvent = namedObject('LevelsEvent', undefined, {
  ...answerSchema(gexReport, EVENT_KEYS).properties,
  provenance: ORIGIN,
  crossed: Type.Optional(
    Type.Array(crossing, { description: 'What changed since the snapshot before. Present if the stream has `on`.' }),
  ),
});

/** The schema of the data of the first event of a stream with `on`. */
export const levelsStart = namedObject('LevelsStart', undefined, {
  tickers: textList('Tickers of the stream.'),
  on: Type.Array(crossingKind, { description: 'Kinds of crossings that the stream has.' }),
});

type LevelsEvent = Pick<GexReport, (typeof EVENT_KEYS)[number]> & {
  readonly provenance: Omit<Provenance, 'age_s' | 'stale'>;
};

/**
 * Returns the REST answer for a level record, for live events, with regime, gross exposure and whether the flip is resolved. The provenance
 * has no age, because events must not depend on the time of sending. The return type requires every key.
 */
export function recordedGexNodes(levels: LevelEvent): LevelsEvent {
  return {
    ticker: levels.underlying,
    spot_price: levels.spot,
    expiry: levels.expiry,
    max_pain: levels.maxPain,
    call_wall: levels.callWall,
    put_wall: levels.putWall,
    gex_flip: levels.gexFlip,
    net_gex_mil: levels.netGex / MILLION,
    regime: gammaRegime(gammaOfRecord(levels)),
    sign_margin_pct: signMarginPct(levels.netGex, levels.grossGex),
    flip_resolved: levels.flipResolved,
    gross_gex_mil: levels.grossGex / MILLION,
    provenance: {
      source: shownName(levels.source),
      simulated: levels.simulated,
      as_of: new Date(levels.asOf).toISOString(),
      notes: [
        ...(levels.simulated ? [SIMULATED_NOTE] : []),
        ...storedMonthNotes(levels),
        ...(levels.flipResolved ? [] : [UNRESOLVED_FLIP_NOTE]),
      ],
    },
  };
}

/** Returns caveats about the walls, because the figures of the default answer do not show such cases. */
export function wallNotes(prepared: PreparedChain, { call, put, callUnsided, putUnsided }: Walls): string[] {
  const notes = emptySideNotes(prepared);
  if (call.sided && callUnsided !== call.strike)
    notes.push(
      `The strike with most call gamma is below spot, at ${callUnsided}. It is not the call wall, because the call wall is at or above spot.`,
    );
  if (put.sided && putUnsided !== put.strike)
    notes.push(
      `The strike with most put gamma is above spot, at ${putUnsided}. It is not the put wall, because the put wall is at or below spot.`,
    );
  if (!call.sided) notes.push('No strike is at or above spot: the call wall is the nearest strike.');
  if (!put.sided) notes.push('No strike is at or below spot: the put wall is the nearest strike.');
  return notes;
}

/** Returns a note if calls have gamma and puts have none, or the other way round: one of the walls is then a strike without meaning. */
function emptySideNotes({ callPut, gamma, position }: PreparedChain): string[] {
  const [calls, puts] = [1, -1].map((side) =>
    gamma.some((each, i) => callPut[i] === side && each * position[i]! !== 0),
  );
  if (calls === puts) return [];
  return [
    `No ${calls ? 'put' : 'call'} has gamma: the ${calls ? 'put' : 'call'} wall is only the strike nearest spot.`,
  ];
}

/** Returns a note if contracts expire on the snapshot's day, for an answer that lacks their levels. */
function todayNotes({ chain, series }: PreparedChain): string[] {
  const today = newYorkDate(chain.asOf);
  if (!series.some((each) => each.series.expiry === today)) return [];
  return [`No contract that expires on ${today} has gamma: zero_dte is null.`];
}

/** Returns a note for each wall whose net gamma has the sign of the other wall. Such a call wall is no resistance. */
function wallSignNotes(prepared: PreparedChain, { call, put }: Walls): string[] {
  if (prepared.sign !== DEFAULT_SIGN) return [];
  const [atCalls, atPuts] = netGexAt(prepared, [call.strike, put.strike]) as [number, number];
  const inMillions = (gex: number) => `${(gex / MILLION).toPrecision(3)} million dollars per 1 % move`;
  const notes: string[] = [];
  if (atCalls < 0)
    notes.push(
      `At the call wall ${call.strike}, puts outweigh calls: its net gamma is ${inMillions(atCalls)}, which amplifies moves.`,
    );
  if (atPuts > 0)
    notes.push(
      `At the put wall ${put.strike}, calls outweigh puts: its net gamma is ${inMillions(atPuts)}, which damps moves.`,
    );
  return notes;
}

import { prepareChain } from '../../analytics/chain/prepare.ts';
import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import type { GexLevels, LevelSet } from '../../analytics/exposure/gex-levels.ts';
import type { CustomerPositions } from '../../analytics/flow/customer-positions.ts';
import { signedShare } from '../../analytics/flow/flow-sign.ts';
import type { FittedSurface } from '../../analytics/surface/fitted-surface.ts';
import { seriesVolatility } from '../../analytics/surface/series-volatility.ts';
import type { Steps } from '../../core/steps.ts';
import { newYorkDate } from '../../market/calendar.ts';
import { hasOpenInterest } from '../../market/chain.ts';
import type { Context } from '../engine/operation.ts';
import { count, dateField, flagField, namedObject, number } from '../engine/schemas.ts';
import { numberOrNull } from '../engine/wrapped-schemas.ts';
import { customerPositionsOf, withFlowSign, withSign } from '../reading/dealer-sign.ts';
import { levelsOf } from '../reading/market-reading.ts';
import { CHARM_EXPOSURE } from './charm.ts';
import { regimeFields, reportRegime } from './gamma-regime.ts';
import { MILLION } from './gex-report.ts';

/** The fields of a variant: levels from other weights or signs of the contracts, for comparison with the default levels. */
export const variantSchema = {
  net_gex_mil: number('Net dealer gamma exposure, millions of dollars per 1 % move.'),
  gross_gex_mil: number('Sum of absolute gamma exposures, millions of dollars per 1 % move.'),
  ...regimeFields,
  gex_flip: number('Spot at which net dealer gamma changes sign, dollars.'),
  flip_resolved: flagField(
    'False if net gamma has one sign within 50 % of spot, or changes it only outside the quoted strikes.',
  ),
  call_wall: number('Strike at or above spot with most call gamma, dollars.'),
  put_wall: number('Strike at or below spot with most put gamma, dollars.'),
};

/** Returns the values of the fields in `variantSchema`. */
export function variantFields({ exposures, flip, walls }: Pick<LevelSet, 'exposures' | 'flip' | 'walls'>) {
  return {
    net_gex_mil: exposures.gex / MILLION,
    gross_gex_mil: exposures.grossGex / MILLION,
    ...reportRegime(exposures),
    gex_flip: flip.level,
    flip_resolved: flip.resolved,
    call_wall: walls.call.strike,
    put_wall: walls.put.strike,
  };
}

export const byVolumeVariant = namedObject(
  'LevelsByVolume',
  "The levels with each contract weighted by the day's volume instead of its open interest.",
  variantSchema,
);

/** Computes the levels for dealers who are long calls and short puts. The weight of a contract is its volume of the day. */
export function* byVolume({ chain, options }: PreparedChain) {
  return variantFields(yield* levelsOfPrepared(yield* prepareChain(chain, { ...options, weight: 'volume' })));
}

export const zeroDteVariant = namedObject(
  'LevelsZeroDte',
  "Contracts that expire on the snapshot's day and have not settled.",
  {
    expiry: dateField("The snapshot's own day, YYYY-MM-DD."),
    ...variantSchema,
    gross_share_pct: number("Gross gamma that expires on the snapshot's day, percent of all gross gamma."),
    net_gex_volume_mil: number(
      "Net GEX with contracts weighted by the day's volume, millions of dollars per 1 % move.",
    ),
    sign_margin_volume_pct: number('The sign margin of net_gex_volume_mil, percent.'),
    max_pain: numberOrNull('Strike at which these options pay out least, dollars; null if they have no open interest.'),
    hours_to_settlement: number('Hours until the last of these contracts settles.'),
    atm_iv: numberOrNull('At-the-money volatility, decimal per year; null if the quotes determine none.'),
    expected_move: numberOrNull('One standard deviation to settlement, dollars; null if atm_iv is null.'),
    straddle_move: numberOrNull(
      'Expected distance of the settlement from the forward, dollars: the straddle at the forward without discounting; null if atm_iv is null.',
    ),
    open_interest: numberOrNull('Contracts outstanding; null if the chain has no open interest.'),
    volume: number('Contracts traded that day.'),
  },
);

/**
 * Computes the levels of the contracts that expire on the snapshot's day, with its dealer sign. Returns null if none is live or none has gamma,
 * because walls and flip would be invented.
 */
export function* zeroDte(prepared: PreparedChain, surface: FittedSurface, grossGex: number, context: Context) {
  const { chain, options, series, sign } = prepared;
  const today = newYorkDate(chain.asOf);
  // The array `series` is in order of settlement.
  const ofToday = series.filter((each) => each.series.expiry === today);
  const last = ofToday.at(-1);
  if (!last) return null;
  const only = { ...options, expiries: { kind: '0dte' } } as const;
  const ready = yield* prepareChain(chain, only);
  if (!ready.gamma.some((each) => each > 0)) return null;
  const levels = yield* levelsOfPrepared(yield* withSign(sign, ready, context));
  const volumeLevels = yield* levelsOfPrepared(yield* prepareChain(chain, { ...only, weight: 'volume' }));
  const { iv, expectedMove, straddle } = seriesVolatility(surface, prepared, last);
  const sum = (column: Float64Array) =>
    ofToday.reduce(
      (all, { series: { start, end } }) => all + column.subarray(start, end).reduce((a, b) => a + (b || 0), 0),
      0,
    );
  const open = hasOpenInterest(chain) ? sum(chain.openInterest) : null;
  return {
    expiry: today,
    ...variantFields(levels),
    gross_share_pct: grossGex > 0 ? Math.min(100, (100 * levels.exposures.grossGex) / grossGex) : 0,
    net_gex_volume_mil: volumeLevels.exposures.gex / MILLION,
    sign_margin_volume_pct: reportRegime(volumeLevels.exposures).sign_margin_pct,
    max_pain: open !== null && open > 0 ? levels.maxPain : null,
    hours_to_settlement: (last.series.settlesAt - chain.asOf) / 3_600_000,
    atm_iv: iv,
    expected_move: expectedMove,
    straddle_move: straddle,
    open_interest: open,
    volume: sum(chain.volume),
  };
}

export const byFlowVariant = namedObject(
  'LevelsByFlow',
  "The levels with dealers who hold the opposite of customers' net positions, by prints.",
  {
    ...variantSchema,
    net_dex_mil: number('Delta exposure, millions of dollars.'),
    net_vex_mil: number('Vanna exposure, millions of dollars per vol point.'),
    net_cex_mil: number(`${CHARM_EXPOSURE}, millions of dollars.`),
    signed_share_pct: number("Customers' net positions, percent of open interest."),
    unsigned_gex_mil: number(
      "Gross gamma of the open interest outside customers' net positions, millions of dollars per 1 % move.",
    ),
    contracts_signed: count('Contracts with a print whose side is known.'),
    positions_capped: count(
      'Contracts whose net position was reduced to open interest plus volume, the most that can be open.',
    ),
    prints: namedObject('SignedPrintCounts', 'Number of prints of live contracts, by how their side was determined.', {
      feed: count('Prints whose side the feed gives.'),
      quote: count('Prints whose side follows from the quote: bought above its middle, sold below it.'),
      tick: count("Prints whose side follows from the contract's last change."),
      unknown: count('Prints of unknown side. They do not count in the net positions.'),
    }),
  },
);

/** Computes the levels with dealer signs from the flow. Returns null without open interest, or if no live contract has a print. */
export function* byPrints(prepared: PreparedChain, context: Context) {
  const positions = yield* openPositionsOf(prepared, context);
  return positions ? yield* byPositions(prepared, positions) : null;
}

/** Returns the customers' positions by prints, `undefined` without open interest, or if no live contract has a print. */
export function* openPositionsOf({ chain }: PreparedChain, context: Context): Steps<CustomerPositions | undefined> {
  return hasOpenInterest(chain) ? yield* customerPositionsOf(chain, context.market.tape(chain)) : undefined;
}

/** Computes the levels on the assumption that dealers hold the opposite of the customers' positions. */
export function* byPositions(prepared: PreparedChain, positions: CustomerPositions) {
  const signed = withFlowSign(prepared, positions);
  const levels = yield* levelsOfPrepared(signed);
  const { share, unsignedGex } = signedShare(signed);
  return {
    ...variantFields(levels),
    net_dex_mil: levels.exposures.dex / MILLION,
    net_vex_mil: levels.exposures.vex / MILLION,
    net_cex_mil: levels.exposures.cex / MILLION,
    signed_share_pct: 100 * share,
    unsigned_gex_mil: unsignedGex / MILLION,
    contracts_signed: positions.contracts,
    positions_capped: positions.capped,
    prints: { ...positions.prints },
  };
}

function levelsOfPrepared(prepared: PreparedChain): Steps<GexLevels> {
  return levelsOf({ chain: prepared.chain, prepared, large: [] });
}

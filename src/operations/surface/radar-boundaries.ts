import type { Static } from '@sinclair/typebox';
import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import type { LevelSet } from '../../analytics/exposure/gex-levels.ts';
import { dailyMove } from '../../analytics/exposure/whipsaw.ts';
import { type FlowNotional, printsDeltaNotional, volumeDeltaNotional } from '../../analytics/flow/flow-notional.ts';
import { StepCache, type Steps } from '../../core/steps.ts';
import { newYorkDate } from '../../market/calendar.ts';
import type { Context } from '../engine/operation.ts';
import { dateField, documented, flagField, namedObject, number, textField } from '../engine/schemas.ts';
import { regimeFields, reportRegime } from '../gex/gamma-regime.ts';
import { MILLION } from '../gex/gex-report.ts';
import { KINETIC_FROM_VOLUMES, type MarketReading } from '../reading/market-reading.ts';

export const gexBoundaries = namedObject(
  'GexBoundaries',
  'Of expiries. Dollars: call_wall, put_wall, gex_flip (if flip_resolved), max_pain (of max_pain_expiry); ' +
    'whale_fiat_kinetic, gex_potential_friction. Million dollars per 1 % move: net_gex_mil. Percent: sign_margin_pct. ' +
    'regime.',
  {
    expiries: documented(
      textField(
        'What the levels are of: 35d (the options that settle within 35 days), the expiry that the call asks for, YYYY-MM-DD, or all, if ' +
          'the call asks for all or none settles within 35 days.',
      ),
      { anyOf: [{ enum: ['35d', 'all'] }, { format: 'date' }] },
    ),
    call_wall: number('Upside resistance, dollars.'),
    put_wall: number('Downside support, dollars.'),
    gex_flip: number('Spot at which net dealer gamma changes sign, dollars.'),
    flip_resolved: flagField('False if net gamma has one sign within 50 % of spot, or at all quoted strikes.'),
    max_pain: number('Strike at which the options of the dominant expiry pay out least, dollars.'),
    max_pain_expiry: dateField('Dominant expiry, YYYY-MM-DD.'),
    net_gex_mil: number('Net dealer gamma exposure, millions of dollars per 1 % move.'),
    regime: regimeFields.regime,
    sign_margin_pct: regimeFields.sign_margin_pct,
    whale_fiat_kinetic: number(
      "Delta-notional of the day's large flow, dollars: + if customers bought delta, - if they sold it. Legs of spreads and contracts of " +
        '|delta| above 0.9 do not count. Input of evaluate_market_hamiltonian.',
    ),
    gex_potential_friction: number(
      'Net GEX, of all expiries or of the expiry asked for, times the expected daily move in percent, dollars. Input of evaluate_market_hamiltonian.',
    ),
  },
);

/** Computes the delta-notional of the large flow on the day of a chain, from prints or, if there are no prints, from daily volumes. */
export function* kineticOf({ chain, prepared }: MarketReading, context: Context): Steps<FlowNotional> {
  if (!context.market.hasPrints(chain.underlying)) {
    return yield* volumeDeltaNotional(prepared, context.largePrintMinUsd);
  }
  const { version, columns } = context.market.largeOn(chain, newYorkDate(chain.asOf), context.largePrintMinUsd);
  return yield* kinetics.of(prepared, version, {
    message: 'Reading large prints',
    steps: () => printsDeltaNotional(prepared, columns),
  });
}

/** A cache of the delta-notional of prints. An entry is valid while the large prints of the day are unchanged. */
const kinetics = new StepCache<PreparedChain, FlowNotional>(() => 1);

/** Returns a note if prints are missing in the kinetic term, or if their sides contradict its sign. `expiry`: default all, `YYYY-MM-DD`. */
export function kineticNotes({ net, prints }: FlowNotional, expiry?: string): string[] {
  if (!prints) return [KINETIC_FROM_VOLUMES];
  const { counted, leftOut, bySide, ofUnknownSide } = prints;
  const reasons = [
    [leftOut.multiLeg, 'of several legs'],
    [leftOut.deep, 'with |delta| above 0.9'],
    [leftOut.settled, 'in settled expiries'],
  ].filter(([count]) => count !== 0);
  const all = counted + leftOut.multiLeg + leftOut.deep + leftOut.settled;
  const missing = reasons.map(([count, which]) => `${count} ${which}`).join(', ');
  const ofExpiry = expiry === undefined ? '' : ` in ${expiry}`;
  // Whatever the unknown sides are, the flow by side has the sign of `bySide`.
  const contradicts = net * bySide < 0 && Math.abs(bySide) > ofUnknownSide;
  const notes: string[] = [];
  if (all === 0) notes.push(`whale_fiat_kinetic is 0: the day has no large print${ofExpiry}.`);
  if (all > counted) {
    const leaves = counted === 0 ? 'is 0, because it leaves out' : 'leaves out';
    notes.push(
      `whale_fiat_kinetic ${leaves} ${all - counted} of ${all} large prints of the day${ofExpiry}: ${missing}.`,
    );
  }
  if (contradicts) {
    const millions = (bySide / MILLION).toPrecision(3);
    notes.push(
      `whale_fiat_kinetic counts all prints as bought. With the sides of the prints, it would be ${millions} million dollars.`,
    );
  }
  return notes;
}

/** Returns the boundaries. `levels` are those to show, and `ofFriction` those of all expiries or of the expiry that the call asks for. */
export function reportBoundaries(
  expiries: string,
  { exposures, walls, flip, dominant, maxPain }: LevelSet,
  ofFriction: LevelSet,
  atmIv: number,
  kinetic: FlowNotional,
): Static<typeof gexBoundaries> {
  const { regime, sign_margin_pct } = reportRegime(exposures);
  return {
    expiries,
    call_wall: walls.call.strike,
    put_wall: walls.put.strike,
    gex_flip: flip.level,
    flip_resolved: flip.resolved,
    max_pain: maxPain,
    max_pain_expiry: dominant.series.expiry,
    net_gex_mil: exposures.gex / MILLION,
    regime,
    sign_margin_pct,
    whale_fiat_kinetic: kinetic.net,
    gex_potential_friction: ofFriction.exposures.gex * 100 * dailyMove(1, atmIv),
  };
}

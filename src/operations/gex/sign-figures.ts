import { type AssumedSign, usualSsr } from '../../analytics/chain/options.ts';
import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import { flipZone, gammaFlip } from '../../analytics/exposure/gamma-flip.ts';
import { gexBySeries } from '../../analytics/exposure/gex-by-series.ts';
import { gammaRegime, signMarginPct } from '../../analytics/exposure/sign-margin.ts';
import type { CustomerPositions } from '../../analytics/flow/customer-positions.ts';
import { cachedBy, type Steps } from '../../core/steps.ts';
import { flagField, namedObject, number } from '../engine/schemas.ts';
import { nullable, numberOrNull } from '../engine/wrapped-schemas.ts';
import { withAssumedSign, withFlowSign } from '../reading/dealer-sign.ts';
import { regimeField, regimeFields } from './gamma-regime.ts';
import { MILLION } from './gex-report.ts';

/** Returns the schema of the field `sign_scenarios`, with or without the flip of each scenario. */
export function signScenariosOf({ withFlips }: { readonly withFlips: boolean }) {
  const gex_flip = numberOrNull(
    'Spot at which net gamma changes sign, dollars; null if there is none, as if all gamma has one sign.',
  );
  const scenario = namedObject(
    withFlips ? 'SignScenario' : 'SignScenarioWithoutFlip',
    'Net gamma by one assumption about the positions of dealers.',
    {
      net_gex_mil: number('Net dealer gamma exposure, millions of dollars per 1 % move.'),
      regime: regimeField(
        'By the sign of net GEX; undetermined if sign_margin_pct is below 2.5. The positions are taken as certain.',
      ),
      sign_margin_pct: regimeFields.sign_margin_pct,
      ...((withFlips && { gex_flip }) as { gex_flip: typeof gex_flip }),
    },
  );
  return namedObject(
    withFlips ? 'SignScenarios' : 'SignScenariosWithoutFlips',
    'Net gamma by each assumption about dealers: long calls and short puts, short both, long both, and flow: the opposite of what customers ' +
      'bought and sold.',
    {
      calls_long_puts_short: scenario,
      short_both: scenario,
      long_both: scenario,
      flow: nullable(scenario, 'By flow; null if no live contract has a print, or without open interest.'),
    },
  );
}

/** The fields on the uncertainty of sign and flip, which only extended answers have. */
export const signFields = {
  flip_zone: nullable(
    namedObject(
      'FlipZone',
      'Spots around the flip at which the sign margin is below 2.5 %: quotes do not determine the sign of net GEX there.',
      {
        low: number('Lowest spot of the zone, dollars.'),
        high: number('Highest spot of the zone, dollars.'),
      },
    ),
    'The zone around the flip in which the regime is undetermined; null if the flip is not resolved.',
  ),
  spot_in_flip_zone: flagField('True if spot lies in flip_zone. The regime is then undetermined, and the flip stays.'),
  flip_band: namedObject(
    'FlipBand',
    'The flip by each assumption on how volatilities move with spot. Null: not resolved.',
    {
      low: numberOrNull('Lowest of the flips, dollars.'),
      high: numberOrNull('Highest of the flips, dollars.'),
      sticky_strike: numberOrNull('The flip if each strike keeps its volatility, dollars.'),
      sticky_moneyness: numberOrNull('The flip if each ratio of strike to forward keeps its volatility, dollars.'),
      ssr: numberOrNull(
        'The flip if the at-the-money volatility becomes that of the smile at ssr_ratio times the move, dollars.',
      ),
      ssr_ratio: number('Ratio of ssr: 1.5 for an index, else 1, which is sticky_strike.'),
    },
  ),
  sign_scenarios: signScenariosOf({ withFlips: true }),
};

/** Returns the values of the fields in `signFields`. `positions` are the customers' by prints, if there are any. */
export function* signFiguresOf(prepared: PreparedChain, positions: CustomerPositions | undefined) {
  const { spot } = prepared.chain;
  const zone = yield* flipZone(prepared);
  const assumed = (sign: AssumedSign) => scenarioOf(withAssumedSign(prepared, sign));
  return {
    flip_zone: zone && { ...zone },
    spot_in_flip_zone: zone !== null && spot >= zone.low && spot <= zone.high,
    flip_band: yield* flipBand(prepared),
    sign_scenarios: {
      calls_long_puts_short: yield* assumed('calls_long_puts_short'),
      short_both: yield* assumed('short_both'),
      long_both: yield* assumed('long_both'),
      flow: positions ? yield* scenarioOf(withFlowSign(prepared, positions)) : null,
    },
  };
}

function* scenarioOf(prepared: PreparedChain) {
  const { netOfAll: gex, grossOfAll: grossGex } = gexBySeries(prepared);
  const hasBothSigns = Math.abs(gex) < grossGex * (1 - 1e-12);
  const flip = hasBothSigns ? yield* gammaFlip(prepared) : undefined;
  return {
    net_gex_mil: gex / MILLION,
    regime: gammaRegime({ gex, grossGex, signProbability: 1 }),
    sign_margin_pct: signMarginPct(gex, grossGex),
    gex_flip: flip?.resolved ? flip.level : null,
  };
}

const flipBand = cachedBy('Finding the band of the flip', function* (prepared: PreparedChain) {
  const ratio = usualSsr(prepared.chain.underlying);
  const known = new Map<number, number | null>();
  for (const ssr of new Set([1, 0, ratio])) known.set(ssr, yield* flipUnder(prepared, ssr));
  const found = [...known.values()].filter((each) => each !== null);
  return {
    low: found.length > 0 ? Math.min(...found) : null,
    high: found.length > 0 ? Math.max(...found) : null,
    sticky_strike: known.get(1)!,
    sticky_moneyness: known.get(0)!,
    ssr: known.get(ratio)!,
    ssr_ratio: ratio,
  };
});

function* flipUnder(prepared: PreparedChain, ssr: number): Steps<number | null> {
  const { options } = prepared;
  const flip = yield* gammaFlip(options.ssr === ssr ? prepared : { ...prepared, options: { ...options, ssr } });
  return flip.resolved ? flip.level : null;
}

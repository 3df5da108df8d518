import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import { exposureFlips } from '../../analytics/exposure/exposure-flips.ts';
import { gammaFlip, profileHalfWidth } from '../../analytics/exposure/gamma-flip.ts';
import { levelsWithin, netGexOf, positionsOf } from '../../analytics/exposure/gamma-profile.ts';
import { gexBySeries } from '../../analytics/exposure/gex-by-series.ts';
import { signProbability } from '../../analytics/exposure/sign-probability.ts';
import { cachedBy } from '../../core/steps.ts';
import { defineOperation } from '../engine/operation.ts';
import { count, flagField, number, objectOf } from '../engine/schemas.ts';
import { numberColumn, numberOrNull } from '../engine/wrapped-schemas.ts';
import { answerChain, flipInput } from '../reading/analysis-options.ts';
import { conventionOf, signConvention } from '../reading/dealer-sign.ts';
import { headFields, reportHead } from '../reading/market-reading.ts';
import { charmNotes } from './charm.ts';
import { regimeFields, reportRegime } from './gamma-regime.ts';

export const getGexProfile = defineOperation({
  name: 'get_gex_profile',
  ofMarket: true,
  title: 'Gamma profile',
  page: 'ticker',
  description:
    'Net dealer gamma over levels of spot, and the level at which it changes sign. Every contract is priced again at each level: its ' +
    'volatility follows from smile_dynamics, and its forward moves in proportion to spot. Dealers are assumed long calls and short puts. With sign=flow, ' +
    'they hold the opposite of what customers bought and sold, by prints. Dollars.',
  example: { ticker: 'SPY' },
  input: flipInput,
  full: objectOf({
    ...headFields,
    gex_flip: number('Spot at which net dealer gamma changes sign, dollars.'),
    flip_resolved: flagField(
      'False if net gamma has one sign within 50 % of spot: gex_flip is then the spot at which it is nearest 0. Also false if gex_flip is outside the quoted strikes.',
    ),
    ...regimeFields,
    vanna_flip: numberOrNull(
      'Spot nearest the present spot at which vanna exposure changes its sign, dollars; null if there is none within 20 %.',
    ),
    charm_flip: numberOrNull(
      'Spot nearest the present spot at which charm exposure changes its sign, dollars; null if there is none within 20 %.',
    ),
    count: count('Rows of each column.'),
    spot: numberColumn('Levels of spot in steps of 0.25 % of the present spot, ascending, dollars.'),
    net_gex: numberColumn('Net gamma exposure at that level, dollars per 1 % move.'),
    sign_convention: signConvention,
  }),
  rest: { method: 'GET', path: '/api/v1/nodes/gex/{ticker}/profile' },
  run: (input, context) => answerChain(input, context, gexProfileOf, charmNotes),
});

/** Computes the answer for a prepared chain. The answer is cached by the chain. */
export const gexProfileOf = cachedBy('Finding the profile', function* (prepared: PreparedChain) {
  const { chain } = prepared;
  const flip = yield* gammaFlip(prepared);
  const positions = yield* positionsOf(prepared);
  yield { message: 'Pricing the chain at other spots' };
  const { vanna, charm } = yield* exposureFlips(prepared, positions);
  yield { message: 'Pricing gamma over levels of spot' };
  const levels = levelsWithin(profileHalfWidth(flip, chain.spot), chain.spot);
  const gex = yield* netGexOf(prepared, levels);
  const { netOfAll, grossOfAll } = gexBySeries(prepared);
  return {
    ...reportHead(chain),
    gex_flip: flip.level,
    flip_resolved: flip.resolved,
    ...reportRegime({ gex: netOfAll, grossGex: grossOfAll, signProbability: signProbability(prepared) }),
    vanna_flip: Number.isNaN(vanna) ? null : vanna,
    charm_flip: Number.isNaN(charm) ? null : charm,
    count: levels.length,
    spot: [...levels],
    net_gex: [...gex],
    sign_convention: conventionOf(prepared),
  };
});

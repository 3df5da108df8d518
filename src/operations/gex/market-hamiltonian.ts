import { gammaOfRecord } from '../../analytics/exposure/sign-margin.ts';
import { ENERGY_CLASSES, evaluateEnergy } from '../../analytics/hamiltonian.ts';
import type { LevelRecord } from '../../market/level-record.ts';
import { defineOperation } from '../engine/operation.ts';
import { number, objectOf, oneOf } from '../engine/schemas.ts';
import { dollarsField, ticker } from '../engine/shared-fields.ts';
import { numberOrNull, textList } from '../engine/wrapped-schemas.ts';
import { KINETIC_FROM_PRINTS, KINETIC_FROM_VOLUMES, provenanceOf } from '../reading/market-reading.ts';
import { regimeNotes } from './gamma-regime.ts';
import { storedMonthNotes } from './level-horizons.ts';

/** Returns a note if the regime of the newest levels is not firm, because the labels follow from the sign of the friction. */
function labelNotes(levels: LevelRecord | undefined): string[] {
  const notes = levels ? regimeNotes(gammaOfRecord(levels)) : [];
  return notes.map((note) => `The labels take the sign of gex_potential_friction as certain. ${note}`);
}

const label = (index: 0 | 1 | 2, description: string) =>
  oneOf<string>([...new Set(ENERGY_CLASSES.map((each) => each[index]))], description);

export const evaluateMarketHamiltonian = defineOperation({
  name: 'evaluate_market_hamiltonian',
  ofMarket: true,
  title: 'Large flow compared with dealer hedging',
  page: 'house',
  description:
    "Compares a day's large flow with dealers' hedging, and names the regime. System_Energy: their sum, dollars. Take both " +
    'terms from gex_boundaries of run_strategic_omni_radar.',
  example: { ticker: 'SPY', whale_fiat_kinetic: 250_000_000, gex_potential_friction: 900_000_000, iv_crush_factor: 1 },
  input: objectOf({
    ticker,
    whale_fiat_kinetic: dollarsField("Delta-notional of the day's large flow, dollars; the sign is ignored."),
    gex_potential_friction: dollarsField(
      'Net GEX (dollars per 1 % move) times the expected daily move in percent, dollars.',
    ),
    iv_crush_factor: number('Factor on the friction: 1 for no change, below 1 if falling volatility weakens hedging.', {
      minimum: 0,
      maximum: 1e6,
    }),
  }),
  full: objectOf({
    System_Energy: number('Kinetic plus potential term, dollars.'),
    State: label(0, 'Regime.'),
    Behavior: label(1, 'Behaviour to expect.'),
    Directive: label(2, 'Action in that regime.'),
    kinetic: number('Kinetic term: the absolute value of whale_fiat_kinetic, dollars.'),
    kinetic_signed: number('The given whale_fiat_kinetic, dollars: + if customers bought delta, - if they sold it.'),
    potential: number('Potential term, dollars.'),
    ratio: numberOrNull('Ratio of kinetic to absolute potential; null if potential is 0 or negligible.'),
    notes: textList('Caveats on the figures.'),
  }),
  tool: {
    question: 'regime: flow against hedging',
    method: 'energy-evaluate_market_hamiltonian',
    units: ['System_Energy: their sum, dollars'],
    answers: ['System_Energy', 'State', 'Behavior', 'Directive'],
    echoes: ['ratio', 'notes'],
  },
  run({ ticker: name, whale_fiat_kinetic, gex_potential_friction, iv_crush_factor }, context) {
    const { market } = context;
    const chain = market.findChain(market.tracked(name));
    const reading = evaluateEnergy(whale_fiat_kinetic, gex_potential_friction, iv_crush_factor);
    return {
      result: {
        System_Energy: reading.systemEnergy,
        State: reading.state,
        Behavior: reading.behavior,
        Directive: reading.directive,
        kinetic: reading.kinetic,
        kinetic_signed: whale_fiat_kinetic,
        potential: reading.potential,
        ratio: reading.ratio,
        notes: [
          'The figures follow from the arguments alone. The age is that of the newest quotes of the ticker.',
          ...labelNotes(market.newestLevels([name])[0]),
          ...storedMonthNotes(market.newestLevels([name])[0]),
          ...(chain ? [market.hasPrints(chain.underlying) ? KINETIC_FROM_PRINTS : KINETIC_FROM_VOLUMES] : []),
        ],
      },
      ...(chain && { provenance: provenanceOf(chain, context) }),
    };
  },
});

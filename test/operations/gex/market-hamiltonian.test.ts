import { expect, test } from 'bun:test';
import type { LevelRecord } from '../../../src/market/level-record.ts';
import { evaluateMarketHamiltonian } from '../../../src/operations/gex/market-hamiltonian.ts';
import { keepLevels } from '../../store/samples.ts';
import { call, callExtended, refusalOf, smallMarket } from '../small-market.ts';

const { context } = smallMarket();

const ask = (whale_fiat_kinetic: number, gex_potential_friction: number, iv_crush_factor = 1) =>
  call(
    evaluateMarketHamiltonian,
    { ticker: 'SPY', whale_fiat_kinetic, gex_potential_friction, iv_crush_factor },
    context,
  );

test.each([
  [-2.5e8, 9e8, 1, 1.15e9, 'SUPERPOSITION: FRICTION_PIN'],
  [9e8, 9e8, 1, 1.8e9, 'CRITICALITY: WALL_CONTESTED'],
  [9e8, 9e8, 0.5, 1.35e9, 'WAVE_COLLAPSE: WALL_SHATTERED'],
  [1e8, -9e8, 1, -8e8, 'FREE_PARTICLE: NEGATIVE_GAMMA'],
  [1e8, -9e8, 0, 1e8, 'FREE_PARTICLE: NO_FRICTION'],
  [1e15, 1e15, 1e6, 1e21 + 1e15, 'SUPERPOSITION: FRICTION_PIN'],
])('%d against %d times %d: %d', (flow, friction, factor, energy, state) => {
  const answer = ask(flow, friction, factor);
  expect(Object.keys(answer)).toEqual(['System_Energy', 'State', 'Behavior', 'Directive']);
  expect(answer).toMatchObject({ System_Energy: energy, State: state });
});

test.each([
  [[1e16, 0, 1], '/whale_fiat_kinetic'],
  [[0, -1e16, 1], '/gex_potential_friction'],
  [[0, 0, -0.1], '/iv_crush_factor'],
  [[0, 0, Number.NaN], '/iv_crush_factor'],
] as const)('rejects %j', ([flow, friction, factor], field) => {
  expect(refusalOf(() => ask(flow, friction, factor)).fields).toEqual([field]);
});

test.each<[string, Partial<LevelRecord>, number]>([
  ['undetermined', { netGex: 1e7, grossGex: 1e9 }, 1],
  ['undetermined, without gamma', { netGex: 0, grossGex: 0 }, 1],
  ['undetermined, by what dealers may hold', { netGex: 1e9, grossGex: 2e9, signProbability: 0.79 }, 1],
  ['stored without the probability', { netGex: 2e8, grossGex: 1e9, signProbability: null }, 1],
  ['nearly undetermined', { netGex: 5.04e7, grossGex: 1e9 }, 1],
  ['firm', { netGex: 1e9, grossGex: 2e9 }, 0],
])('notes that the labels are not firm if the regime is not: %s', (_what, levels, expected) => {
  const { context: withLevels, store } = smallMarket();
  keepLevels(store, { underlying: 'SPY', ...levels });
  const args = { ticker: 'SPY', whale_fiat_kinetic: 1, gex_potential_friction: 9, iv_crush_factor: 1 };
  const { notes, State } = callExtended(evaluateMarketHamiltonian, args, withLevels) as {
    notes: string[];
    State: string;
  };
  expect(State).toBe('SUPERPOSITION: FRICTION_PIN');
  const NOT_FIRM =
    /^The labels take the sign of gex_potential_friction as certain\. .* the regime (?:is|would be) undetermined\.$/;
  expect(notes.filter((each) => NOT_FIRM.test(each))).toHaveLength(expected);
});

test('the extended answer has both terms and their ratio', () => {
  const args = { ticker: 'SPY', whale_fiat_kinetic: -4, gex_potential_friction: -8, iv_crush_factor: 1 };
  expect(callExtended(evaluateMarketHamiltonian, args, context)).toMatchObject({
    ...{ kinetic: 4, kinetic_signed: -4, potential: -8, ratio: 0.5 },
  });
});

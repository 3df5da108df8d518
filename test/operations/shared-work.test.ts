import { describe, expect, test } from 'bun:test';
import type { Context, Operation } from '../../src/operations/engine/operation.ts';
import { extendedView, perform } from '../../src/operations/engine/perform.ts';
import { getGexByExpiry } from '../../src/operations/gex/gex-expiries.ts';
import { getLiveGexNodes } from '../../src/operations/gex/gex-nodes.ts';
import { getGexProfile } from '../../src/operations/gex/gex-profile.ts';
import { getGexByStrike } from '../../src/operations/gex/gex-strikes.ts';
import { getGexView } from '../../src/operations/gex/gex-view.ts';
import { getHedgingProfile } from '../../src/operations/gex/hedging-profile.ts';
import { getGexHorizons } from '../../src/operations/gex/level-horizons.ts';
import { runStrategicOmniRadar } from '../../src/operations/surface/omni-radar.ts';
import { getVolatilitySurface } from '../../src/operations/surface/surface-report.ts';
import { simulated } from '../analytics/simulated.ts';
import { contextOf } from './small-market.ts';

interface Run {
  /** The steps with their tokens, without steps that only announce a part of the answer. */
  readonly steps: readonly string[];
  readonly tokens: number;
  readonly body: string;
}

const ANNOUNCED = [
  ...['Reading the chain and its volatilities', 'Levels over all expiries', 'Density of the expiry'],
  ...['Concentration and whipsaw risk', 'Summing up exposures by strike', 'Finding the profile'],
];

function run(operation: unknown, args: object, context: Context): Run {
  const all = perform(extendedView(operation as Operation), { ticker: 'SPY', ...args }, context, 'invalid_parameter');
  const steps: string[] = [];
  let tokens = 0;
  for (;;) {
    const { value, done } = all.next();
    if (done) return { steps, tokens, body: JSON.stringify(value.body) };
    tokens += value.tokens ?? 0;
    if (!ANNOUNCED.includes(value.message)) steps.push(value.message);
  }
}

const chain = simulated('SPY');
const marketOf = () => contextOf(chain, chain.asOf + 60_000);

const REQUESTS: readonly [name: string, operation: unknown, args: object][] = [
  ['nodes', getLiveGexNodes, {}],
  ['strikes', getGexByStrike, {}],
  ['profile', getGexProfile, {}],
  ['expiries', getGexByExpiry, {}],
  ['view', getGexView, {}],
  ['surface', getVolatilitySurface, {}],
  ['grid', getVolatilitySurface, { detail: 'grid' }],
  ['smiles', getVolatilitySurface, { detail: 'smiles' }],
  ['hedging', getHedgingProfile, {}],
  ['hedging of own moves', getHedgingProfile, { moves: [-1, 2] }],
  ['radar', runStrategicOmniRadar, {}],
];

describe('a repeat on one snapshot computes nothing again, pays nothing again, and gives the same bytes', () => {
  test.each(REQUESTS)('%s', (_name, operation, args) => {
    const context = marketOf();
    const first = run(operation, args, context);
    const again = run(operation, args, context);
    expect(first.steps).not.toEqual([]);
    expect(again).toEqual({ steps: [], tokens: 0, body: first.body });
  });
});

describe('an answer after all others has the bytes of the answer of a market of its own', () => {
  const context = marketOf();
  for (const [, operation, args] of REQUESTS) run(operation, args, context);
  test.each(REQUESTS)('%s', (_name, operation, args) => {
    expect(run(operation, args, context).body).toBe(run(operation, args, marketOf()).body);
  });
});

test.each([
  ['strikes', getGexByStrike],
  ['profile', getGexProfile],
  ['expiries', getGexByExpiry],
  ['nodes', getLiveGexNodes],
])('after the view and the horizons, %s compute nothing', (_name, operation) => {
  const context = marketOf();
  run(getGexView, {}, context);
  // The view leaves out the odds of the walls.
  run(getGexHorizons, {}, context);
  expect(run(operation, {}, context)).toMatchObject({ steps: [], tokens: 0 });
});

test.each([
  ['the radar, the surface', runStrategicOmniRadar, getVolatilitySurface, 'Fitting the surface'],
  ['the surface, the grid', getVolatilitySurface, getVolatilitySurface, 'Reading the smiles'],
  ['the expiries, the radar', getGexByExpiry, runStrategicOmniRadar, 'Fitting the surface'],
  ['the nodes, the radar', getLiveGexNodes, runStrategicOmniRadar, 'Finding levels'],
])('after %s needs no step of the other', (_name, before, after, step) => {
  const context = marketOf();
  expect(run(before, {}, context).steps).toContain(step);
  const args = before === after ? { detail: 'grid' } : {};
  expect(run(after, args, context).steps).not.toContain(step);
});

test('a request that cannot pay for the surface leaves no answer that the next request would get for nothing', () => {
  const context = marketOf();
  const view = extendedView(getGexByExpiry as unknown as Operation);
  const refused = perform(view, { ticker: 'SPY' }, context, 'invalid_parameter');
  // The request ends at the step that it cannot pay, which is that of the surface.
  for (;;) {
    const { value, done } = refused.next();
    if (done) throw new Error('the surface costs nothing');
    if (value.message === 'Fitting the surface' && value.tokens) break;
  }
  expect(run(getGexByExpiry, {}, context).tokens).toBeGreaterThan(0);
});

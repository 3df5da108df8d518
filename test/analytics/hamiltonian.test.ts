import { describe, expect, test } from 'bun:test';
import { ENERGY_CLASSES, evaluateEnergy } from '../../src/analytics/hamiltonian.ts';

const PINNED = ['SUPERPOSITION: FRICTION_PIN', 'MEAN_REVERSION_PIN', 'FADE_THE_EDGES'];
const CONTESTED = ['CRITICALITY: WALL_CONTESTED', 'REGIME_TRANSITION', 'WAIT_FOR_COLLAPSE'];
const SHATTERED = ['WAVE_COLLAPSE: WALL_SHATTERED', 'DIRECTIONAL_GAMMA_CASCADE', 'RIDE_THE_VOID'];
const NEGATIVE = ['FREE_PARTICLE: NEGATIVE_GAMMA', 'VOLATILITY_EXPANSION', 'TRADE_SMALL'];
const FRICTIONLESS = ['FREE_PARTICLE: NO_FRICTION', 'FLOW_DRIVEN', 'FOLLOW_FLOW'];

describe('classifies flow, friction and factor', () => {
  test.each([
    [0, 100, 1, PINNED],
    [79.99, 100, 1, PINNED],
    [80, 100, 1, CONTESTED],
    [100, 100, 1, CONTESTED],
    [125, 100, 1, CONTESTED],
    [125.01, 100, 1, SHATTERED],
    [-125.01, 100, 1, SHATTERED],
    [-79.99, 100, 1, PINNED],
    [80, 200, 0.5, CONTESTED],
    [79.99, 200, 0.5, PINNED],
    [0, -100, 1, NEGATIVE],
    [79.99, -100, 1, NEGATIVE],
    [80, -100, 1, SHATTERED],
    [-80, -100, 1, SHATTERED],
    [1e9, -100, 1, SHATTERED],
    [0, 0, 1, FRICTIONLESS],
    [100, 0, 1, FRICTIONLESS],
    [100, -0, 1, FRICTIONLESS],
    [100, 100, 0, FRICTIONLESS],
    [100, -100, 0, FRICTIONLESS],
    [1e15, 1e15, 1e6, PINNED],
    [1e15, -1e15, 1e6, NEGATIVE],
    [1e15, 1e-300, 1, SHATTERED],
    [1e15, 5e-324, 1e-6, FRICTIONLESS],
    [5e-324, 5e-324, 1, CONTESTED],
    [0, -5e-324, 1, NEGATIVE],
  ])('%d, %d, %d', (flow, friction, factor, [state, behavior, directive]) => {
    const reading = evaluateEnergy(flow, friction, factor);
    expect([reading.state, reading.behavior, reading.directive]).toEqual([state!, behavior!, directive!]);
    expect(reading.kinetic).toBe(Math.abs(flow));
    // toBe distinguishes -0 from 0.
    expect(reading.potential).toBe(friction * factor === 0 ? 0 : friction * factor);
    expect(reading.systemEnergy).toBe(reading.kinetic + reading.potential);
    for (const figure of [reading.systemEnergy, reading.kinetic, reading.potential]) expect(figure).toBeFinite();
    if (reading.ratio !== null) expect(reading.ratio).toBe(reading.kinetic / Math.abs(reading.potential));
  });
});

test('the ratio is null if the potential is 0', () => {
  expect(evaluateEnergy(0, 0, 1).ratio).toBeNull();
  expect(evaluateEnergy(5, 0, 1).ratio).toBeNull();
  expect(evaluateEnergy(1e15, 1e-300, 1).ratio).toBeNull();
});

test('every class is listed', () => {
  const listed = ENERGY_CLASSES.map((each) => [...each] as string[]);
  expect(listed).toEqual([PINNED, CONTESTED, SHATTERED, NEGATIVE, FRICTIONLESS]);
});

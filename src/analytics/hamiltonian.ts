/** Kinetic and potential energy have similar sizes if `ratio` is between these two limits. */
const CONTESTED_FROM = 0.8;
const CONTESTED_TO = 1.25;

const PINNED = ['SUPERPOSITION: FRICTION_PIN', 'MEAN_REVERSION_PIN', 'FADE_THE_EDGES'] as const;
const CONTESTED = ['CRITICALITY: WALL_CONTESTED', 'REGIME_TRANSITION', 'WAIT_FOR_COLLAPSE'] as const;
const SHATTERED = ['WAVE_COLLAPSE: WALL_SHATTERED', 'DIRECTIONAL_GAMMA_CASCADE', 'RIDE_THE_VOID'] as const;
const NEGATIVE = ['FREE_PARTICLE: NEGATIVE_GAMMA', 'VOLATILITY_EXPANSION', 'TRADE_SMALL'] as const;
const FRICTIONLESS = ['FREE_PARTICLE: NO_FRICTION', 'FLOW_DRIVEN', 'FOLLOW_FLOW'] as const;

/** All classes of an energy comparison, each with `state`, `behavior` and `directive`. */
export const ENERGY_CLASSES = [PINNED, CONTESTED, SHATTERED, NEGATIVE, FRICTIONLESS];

/**
 * Compares the day's flow (kinetic energy K) with the dealers' hedging (potential energy `V = friction * factor`), in dollars. The sign of
 * V and `ratio`, K / |V|, determine the class. If V is positive, dealers are long gamma, and their hedging holds the price as long as K is
 * at most V. If V is negative, the hedging amplifies every move. `ratio` is null if it is not finite. `systemEnergy` is K + V.
 */
export function evaluateEnergy(flowUsd: number, frictionUsd: number, factor: number) {
  const kinetic = Math.abs(flowUsd);
  // A negative friction times a factor of 0 gives -0. Adding 0 turns -0 into 0.
  const potential = frictionUsd * factor + 0;
  const ratio = kinetic / Math.abs(potential);
  const [state, behavior, directive] = classOf(potential, ratio);
  const finite = Number.isFinite(ratio) ? ratio : null;
  return { systemEnergy: kinetic + potential, kinetic, potential, ratio: finite, state, behavior, directive };
}

function classOf(potential: number, ratio: number): readonly [state: string, behavior: string, directive: string] {
  if (potential === 0) return FRICTIONLESS;
  if (potential < 0) return ratio >= CONTESTED_FROM ? SHATTERED : NEGATIVE;
  if (ratio < CONTESTED_FROM) return PINNED;
  return ratio <= CONTESTED_TO ? CONTESTED : SHATTERED;
}

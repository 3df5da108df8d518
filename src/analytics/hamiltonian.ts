/** Compares the day's flow (kinetic energy) with the dealers' hedging (potential energy), both in dollars. */
export interface EnergyReading {
  /** |kinetic| + potential, dollars. */
  readonly systemEnergy: number;
  readonly kinetic: number;
  readonly potential: number;
  /** kinetic / |potential|. Null if the potential is 0, or so small that the ratio is not finite. */
  readonly ratio: number | null;
  readonly state: string;
  readonly behavior: string;
  readonly directive: string;
}

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
 * Computes the kinetic energy `K = |flow delta-notional|` and the potential energy `V = friction * factor`, both in dollars. The sign of V
 * and the ratio `K / |V|` determine the class of the result. If V is positive, dealers are long gamma, and their hedging holds the price as
 * long as K is at most V. If V is negative, the dealers' hedging amplifies every move.
 */
export function evaluateEnergy(flowUsd: number, frictionUsd: number, factor: number): EnergyReading {
  const kinetic = Math.abs(flowUsd);
  // A negative friction times a factor of 0 gives -0. Adding 0 turns -0 into 0.
  const potential = frictionUsd * factor + 0;
  const ratio = kinetic / Math.abs(potential);
  const [state, behavior, directive] =
    potential === 0 ? FRICTIONLESS : potential > 0 ? longGammaClass(ratio) : shortGammaClass(ratio);
  return {
    systemEnergy: kinetic + potential,
    kinetic,
    potential,
    ratio: Number.isFinite(ratio) ? ratio : null,
    state,
    behavior,
    directive,
  };
}

function longGammaClass(ratio: number) {
  if (ratio < CONTESTED_FROM) return PINNED;
  return ratio <= CONTESTED_TO ? CONTESTED : SHATTERED;
}

function shortGammaClass(ratio: number) {
  return ratio >= CONTESTED_FROM ? SHATTERED : NEGATIVE;
}

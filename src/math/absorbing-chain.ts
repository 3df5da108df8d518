/**
 * One short step in time of a Markov chain on ascending nodes: the mass at a node moves to the two nodes beside it, at rates that are
 * constant during the step. The step is that of Crank and Nicolson. Chains with such steps approximate diffusions.
 */
export class ChainStep {
  /** The reciprocals of the pivots when elimination runs up from the first node, or down from the last node. */
  private readonly upwards: Float64Array;
  private readonly downwards: Float64Array;

  /** `up` and `down` are the rates from each node, times the length of the step. `up` is 0 at the last node, `down` at the first node. */
  constructor(
    private readonly up: Float64Array,
    private readonly down: Float64Array,
  ) {
    const count = up.length;
    this.upwards = new Float64Array(count);
    this.downwards = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      const taken = i === 0 ? 0 : up[i - 1]! * this.upwards[i - 1]! * down[i]!;
      this.upwards[i] = 2 / (2 + up[i]! + down[i]! - taken / 2);
    }
    for (let i = count - 1; i >= 0; i--) {
      const taken = i === count - 1 ? 0 : down[i + 1]! * this.downwards[i + 1]! * up[i]!;
      this.downwards[i] = 2 / (2 + up[i]! + down[i]! - taken / 2);
    }
  }

  /**
   * Moves the masses of the nodes below `barrier` (the number of a node), in place, and returns the mass that reaches `barrier`. Without a
   * barrier, `barrier` is the number of nodes, and the result is 0.
   */
  below(barrier: number, mass: Float64Array, sums: Float64Array): number {
    const { up, down, upwards } = this;
    // `sums` becomes the solution: the sum of the masses before and after the step.
    let before = 0;
    for (let i = 0; i < barrier; i++) {
      const pushed = i === 0 ? 0 : (up[i - 1]! * before) / 2;
      before = (2 * mass[i]! + pushed) * upwards[i]!;
      sums[i] = before;
    }
    let next = 0;
    for (let i = barrier - 1; i >= 0; i--) {
      if (i < barrier - 1) next = sums[i]! + (down[i + 1]! * next * upwards[i]!) / 2;
      else next = sums[i]!;
      sums[i] = next;
      mass[i] = next - mass[i]!;
    }
    return barrier < mass.length ? (up[barrier - 1]! * sums[barrier - 1]!) / 2 : 0;
  }

  /** Moves the masses of the nodes above `barrier`, in place, and returns the mass that reaches `barrier`. */
  above(barrier: number, mass: Float64Array, sums: Float64Array): number {
    const { up, down, downwards } = this;
    const last = mass.length - 1;
    let before = 0;
    for (let i = last; i > barrier; i--) {
      const pushed = i === last ? 0 : (down[i + 1]! * before) / 2;
      before = (2 * mass[i]! + pushed) * downwards[i]!;
      sums[i] = before;
    }
    let next = 0;
    for (let i = barrier + 1; i <= last; i++) {
      if (i > barrier + 1) next = sums[i]! + (up[i - 1]! * next * downwards[i]!) / 2;
      else next = sums[i]!;
      sums[i] = next;
      mass[i] = next - mass[i]!;
    }
    return barrier >= 0 ? (down[barrier + 1]! * sums[barrier + 1]!) / 2 : 0;
  }
}

/** One way of doing the same work. */
export interface Runner {
  readonly name: string;
  /** Does the work once; what it computes must not be optimised away, so it writes into columns of its own. */
  run(): void;
}

export interface Result {
  readonly name: string;
  /** Median nanoseconds a unit of work. */
  readonly ns: number;
  /** Median over rounds of this runner's time over the first one's in the same round. */
  readonly ratio: number;
  /** Quartiles of that ratio: how far a single round may be believed. */
  readonly spread: readonly [low: number, high: number];
}

export interface RaceOptions {
  /** Units of work in one run: options, or contract-levels. */
  readonly units: number;
  readonly rounds: number;
  /** How long a runner works in each round, ms. */
  readonly sliceMs: number;
}

/**
 * Times runners side by side: in every round each has a slice, in turning order, so that what disturbs the machine disturbs all
 * of them; ratios are taken within a round. The compiler's tiers are climbed before anything counts.
 */
export function race(runners: readonly Runner[], { units, rounds, sliceMs }: RaceOptions): Result[] {
  const repeats = runners.map((runner) => warmUp(runner, sliceMs));
  const times = runners.map(() => [] as number[]);
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < runners.length; turn++) {
      const at = (round + turn) % runners.length;
      times[at]!.push(timed(runners[at]!, repeats[at]!) / repeats[at]! / units);
    }
  }
  return runners.map(({ name }, at) => {
    const ratios = times[at]!.map((time, round) => time / times[0]![round]!);
    return {
      name,
      ns: quantile(times[at]!, 0.5),
      ratio: quantile(ratios, 0.5),
      spread: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
    };
  });
}

/** Compilers look at a function again after so many runs; what takes long has loops, at which they look as well. */
const WARM_RUNS = 60;

/** Runs until the time of a run is steady; gives how many runs fill a slice. */
function warmUp(runner: Runner, sliceMs: number): number {
  const started = performance.now();
  let fastest = Number.POSITIVE_INFINITY;
  for (let run = 0, passed = 0; passed < 4 * sliceMs || (run < WARM_RUNS && passed < 100 * sliceMs); run++) {
    fastest = Math.min(fastest, timed(runner, 1));
    passed = performance.now() - started;
  }
  return Math.max(1, Math.round((sliceMs * 1e6) / fastest));
}

/** Nanoseconds. */
function timed(runner: Runner, repeats: number): number {
  const started = Bun.nanoseconds();
  for (let repeat = 0; repeat < repeats; repeat++) runner.run();
  return Bun.nanoseconds() - started;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** One of the implementations that the benchmark compares. */
export interface Runner {
  readonly name: string;
  /** Does the work once. Stores the results in the runner's own columns, so that the compiler cannot remove the work. */
  run(): void;
  /** The processor time so far of a runner that works in another process, ns. */
  cpuNs?(): number;
}

export interface Result {
  readonly name: string;
  /** The median time per unit of work, ns. */
  readonly ns: number;
  /** The first and third quartile of the time over all rounds, ns. */
  readonly quartiles: readonly [low: number, high: number];
  /** The median of a ratio over all rounds: this runner's time divided by the first runner's time in the same round. */
  readonly ratio: number;
  /** The first and third quartile of the ratio over all rounds. The quartiles show how much the ratio varies between rounds. */
  readonly spread: readonly [low: number, high: number];
}

export interface RaceOptions {
  /** Number of units of work in one run. A unit is an option, or a pair of a contract and a level. */
  readonly units: number;
  readonly rounds: number;
  /** Working time of each runner per round, ms. */
  readonly sliceMs: number;
}

/**
 * Measures the runners in alternation: in every round, each has one slice of time, in rotating order, so that a disturbance of the machine
 * affects all. Each ratio compares times of the same round. Times are of the processor, in the thread or process that does the work. Each
 * runner first runs until the compiler has reached its highest tier.
 */
export function race(runners: readonly Runner[], { units, rounds, sliceMs }: RaceOptions): Result[] {
  const repeats = runners.map((runner) => warmUp(runner, sliceMs));
  const times = runners.map(() => [] as number[]);
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < runners.length; turn++) {
      const i = (round + turn) % runners.length;
      times[i]!.push(timed(runners[i]!, repeats[i]!, runners[i]!.cpuNs ?? threadNs) / repeats[i]! / units);
    }
  }
  return runners.map(({ name }, i) => {
    const ratios = times[i]!.map((time, round) => time / times[0]![round]!);
    return {
      name,
      ns: quantile(times[i]!, 0.5),
      quartiles: [quantile(times[i]!, 0.25), quantile(times[i]!, 0.75)],
      ratio: quantile(ratios, 0.5),
      spread: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
    };
  });
}

/** Number of runs after which the compiler has optimised a short function. A function with loops is optimised earlier. */
const WARM_RUNS = 60;

/** Runs the runner until the time per run is stable. Returns the number of runs that fill a slice of time. */
function warmUp(runner: Runner, sliceMs: number): number {
  const started = performance.now();
  let fastest = Number.POSITIVE_INFINITY;
  for (let run = 0, passed = 0; passed < 4 * sliceMs || (run < WARM_RUNS && passed < 100 * sliceMs); run++) {
    fastest = Math.min(fastest, timed(runner, 1, Bun.nanoseconds));
    passed = performance.now() - started;
  }
  return Math.max(1, Math.round((sliceMs * 1e6) / fastest));
}

/** Returns the time of `repeats` runs by a clock, ns. */
function timed(runner: Runner, repeats: number, clock: () => number): number {
  const started = clock();
  for (let repeat = 0; repeat < repeats; repeat++) runner.run();
  return clock() - started;
}

/** Returns the processor time of this thread, ns. Other work on the machine does not add to it. On Windows, its steps would be too coarse. */
function threadNs(): number {
  if (process.platform === 'win32') return Bun.nanoseconds();
  // Linux counts the time of a thread up to its last tick, some ms ago. Asking for the time of the process counts it up to now.
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return (user + system) * 1000;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

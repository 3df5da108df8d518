import { signal } from '@preact/signals';
import { distinctOptions } from '../../src/bench/workloads.ts';
import {
  BENCH_OPTIONS,
  type BrowserError,
  browserAccuracy,
  compileKernels,
  greekColumns,
  kernelWork,
  optionInputs,
} from '../data/browser-kernels.ts';
import { clockStepMs, type MeasuredTime, measureWork, pageTurn, sliceFor } from '../data/browser-race.ts';
import { pageFact, readPageFile } from '../data/page-files.ts';
import type { ReferenceSample } from '../data/reference-sample.ts';
import { measureRequests, type RequestSpeed, sameBits } from '../data/server-speed.ts';

export interface BrowserTime extends MeasuredTime {
  readonly kernel: string;
  readonly unit: string;
}

/** What the benchmark has measured so far. */
export interface BenchRun {
  /** What is measured now. Null: the run has ended. */
  readonly now: string | null;
  /** Share of the work that is done, 0 to 1. */
  readonly share: number;
  readonly times: readonly BrowserTime[];
  /** Step of the browser's clock and time of a round, ms. */
  readonly clockMs: number;
  readonly sliceMs: number;
  /** Whether the page was hidden for a time during the run, so that the browser may have slowed it down. */
  readonly wasHidden: boolean;
  /** The server's answers to requests for the same options, or a sentence that says why there are none. */
  readonly requests: RequestSpeed | string | null;
  /** How many of the results of this browser and of the server have the same bits. */
  readonly bits: { readonly same: number; readonly all: number } | null;
  readonly accuracy: { readonly rows: number; readonly errors: readonly BrowserError[] } | null;
  /** Why the run ended early, as a sentence. */
  readonly problem: string | null;
}

/** The last run. It stays while the member looks at other views. */
export const benchRun = signal<BenchRun | null>(null);

/** Rounds of each kernel, as in `zomma bench`. */
const ROUNDS = 21;

let running: AbortController | undefined;

/** Ends the run. What has been measured stays. */
export function stopBench(): void {
  running?.abort(new DOMException('you stopped it.', 'AbortError'));
}

/** Measures the kernels in this browser, their accuracy, and requests to the server. */
export async function startBench(): Promise<void> {
  stopBench();
  const canceled = new AbortController();
  running = canceled;
  const { signal } = canceled;
  const clockMs = clockStepMs();
  let run: BenchRun = {
    now: 'compiling the kernels',
    share: 0,
    times: [],
    clockMs,
    sliceMs: sliceFor(clockMs),
    wasHidden: document.hidden,
    requests: null,
    bits: null,
    accuracy: null,
    problem: null,
  };
  const report = (change: Partial<BenchRun>) => {
    run = { ...run, ...change, wasHidden: run.wasHidden || document.hidden };
    if (running === canceled) benchRun.value = run;
  };
  report({});
  try {
    const kernels = await compileKernels(pageFact('kernels'));
    report({ now: 'comparing with the reference values' });
    const sample = await readPageFile<ReferenceSample>('reference');
    report({ accuracy: { rows: sample.rows, errors: browserAccuracy(kernels, sample) } });
    const all = kernelWork(kernels);
    for (const [i, work] of all.entries()) {
      report({ now: work.kernel });
      const time = await measureWork(work, {
        sliceMs: run.sliceMs,
        rounds: ROUNDS,
        pause: () => pageTurn(signal),
        onProgress: (share) => report({ share: (i + share) / (all.length + 1) }),
      });
      const { kernel, unit } = work;
      report({ times: [...run.times, { kernel, unit, ...time }] });
    }
    report({ now: 'requests to the server' });
    const requests = await measureRequests(signal).catch((error: Error) => {
      signal.throwIfAborted();
      return error.message;
    });
    const bits =
      typeof requests === 'string'
        ? null
        : sameBits(greekColumns(kernels, optionInputs(distinctOptions(BENCH_OPTIONS))), requests.columns);
    report({ now: null, share: 1, requests, bits });
  } catch (error) {
    report({ now: null, problem: (error as Error).message });
  }
}

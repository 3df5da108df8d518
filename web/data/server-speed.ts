import { distinctOptions } from '../../src/bench/workloads.ts';
import { cleanText } from '../page-format.ts';
import { BENCH_OPTIONS, optionInputs } from './browser-kernels.ts';
import { type MeasuredTime, quartilesOf } from './browser-race.ts';
import type { DocumentedSpeed } from './documented-speed.ts';
import { rateLimit, send } from './request.ts';

/** Reads what `zomma bench --json` prints. Throws an error with a sentence if the text is something else. */
export function parseServerBench(text: string): Omit<DocumentedSpeed, 'workloads'> {
  try {
    const { machine, speed } = JSON.parse(text) as Record<string, Record<string, unknown>[] & Record<string, unknown>>;
    const rows = speed!.filter((row) => typeof row.kernel === 'string' && typeof row.ns === 'number' && row.ns > 0);
    if (rows.length === 0) throw new RangeError();
    return {
      machine: Object.entries(machine!)
        .map(([name, value]) => `${cleanText(name)} ${cleanText(value)}`.replaceAll('_', ' '))
        .join(', '),
      times: Object.fromEntries(rows.map(({ kernel, ns }) => [kernel, ns])),
    };
  } catch {
    throw new Error('These are no times of kernels. Paste all that zomma bench --json prints.');
  }
}

export interface RequestSpeed {
  /** From the first byte sent to the last byte read, nanoseconds per option. */
  readonly time: MeasuredTime;
  /** The server's results, nine columns of BENCH_OPTIONS rows. */
  readonly columns: Float64Array;
}

const REQUEST_BLOCKS = 5;
/** Requests that are timed together, so that the steps of the clock matter less. */
const BLOCK_REQUESTS = 3;

/**
 * Times requests for the Greeks of the same options, one after the other. Returns a sentence if the rate limit leaves too few requests.
 * Rejects with `RequestProblem`, or with `AbortError`.
 */
export async function measureRequests(signal: AbortSignal): Promise<RequestSpeed | string> {
  const { quota, left } = rateLimit.value;
  if (quota > 0 && left < 2 * REQUEST_BLOCKS * BLOCK_REQUESTS)
    return `The server was not asked: ${left} of ${quota} requests are left.`;
  const columns = optionInputs(distinctOptions(BENCH_OPTIONS));
  const body = new Float64Array(columns.length * BENCH_OPTIONS);
  columns.forEach((column, i) => {
    body.set(column, i * BENCH_OPTIONS);
  });
  const once = async () => {
    const headers = { 'Content-Type': 'application/octet-stream' };
    const response = await send('/api/v1/physics/greeks/batch?units=raw', { method: 'POST', headers, body, signal });
    return response.arrayBuffer();
  };
  let answer = await once();
  const times: number[] = [];
  for (let block = 0; block < REQUEST_BLOCKS; block++) {
    const started = performance.now();
    for (let i = 0; i < BLOCK_REQUESTS; i++) answer = await once();
    times.push((1e6 * (performance.now() - started)) / BLOCK_REQUESTS / BENCH_OPTIONS);
  }
  return { time: quartilesOf(times), columns: new Float64Array(answer) };
}

/** Counts the numbers that have the same bits in the columns of this browser and in the server's answer. */
export function sameBits(columns: readonly Float64Array[], answer: Float64Array): { same: number; all: number } {
  const theirs = new BigUint64Array(answer.buffer, answer.byteOffset, answer.length);
  let [same, all] = [0, 0];
  for (const column of columns) {
    for (const value of new BigUint64Array(column.buffer, column.byteOffset, column.length)) {
      if (value === theirs[all++]) same++;
    }
  }
  return { same, all };
}

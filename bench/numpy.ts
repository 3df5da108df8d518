import { mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OptionSet } from '../src/bench/workloads.ts';
import { packed } from './native.ts';
import { missingPeers, PEER_ENV, PYTHON, pythonFile } from './peer-process.ts';

/** The Greeks of a set of options in numpy, in a process of its own, which ends with this process. */
export interface NumpyGreeks {
  /** Nine columns in market units, one after the other. */
  readonly answer: Float64Array;
  /** Computes once. */
  run(): void;
  /** The processor time of the process after the last computation, ns. */
  cpuNs(): number;
}

/** Starts the process of numpy. Returns undefined if Python, numpy, scipy or the program that makes pipes is missing. */
export function startNumpy(options: OptionSet): NumpyGreeks | undefined {
  if (missingPeers(['numpy', 'scipy'], []).length > 0 || Bun.which('mkfifo') === null) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'zomma-numpy-'));
  process.once('exit', () => rmSync(folder, { recursive: true }));
  const pathOf = (name: string) => join(folder, name);
  const env = { ...process.env, ...PEER_ENV };
  const count = String(options.count);
  writeFileSync(pathOf('in'), packed(options));
  const first = Bun.spawnSync([PYTHON, pythonFile('greeks.py'), pathOf('in'), pathOf('out'), count], { env });
  if (!first.success) return undefined;
  Bun.spawnSync(['mkfifo', pathOf('requests'), pathOf('answers')]);
  Bun.spawn([PYTHON, pythonFile('kernel_turns.py'), pathOf('in'), count, pathOf('requests'), pathOf('answers')], {
    env,
    stderr: 'inherit',
  }).unref();
  // Opening waits until the process has opened the other end.
  const [requests, answers] = [openSync(pathOf('requests'), 'w'), openSync(pathOf('answers'), 'r')];
  const spent = new BigInt64Array(1);
  return {
    answer: new Float64Array(new Uint8Array(readFileSync(pathOf('out'))).buffer),
    run() {
      writeSync(requests, '+');
      if (readSync(answers, new Uint8Array(spent.buffer)) === 0) throw new Error('numpy ended');
    },
    cpuNs: () => Number(spent[0]),
  };
}

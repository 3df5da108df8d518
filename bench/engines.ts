import { join } from 'node:path';
import { quantile, type Result } from '../src/bench/race.ts';

/** The kernels of `bench/kernel-results.mjs`, whose times it prints. */
const KERNELS = {
  greeks: 'price and eight Greeks',
  impliedVolatility: 'implied volatility',
  merton: 'Merton',
} as const;
const ROOT = join(import.meta.dir, '..');
export const ENGINES_TITLE = 'The kernels in other engines, without copies, 1,024 options a call';

/** The engines with the commands that start them. The first is this one. `npx` fetches the others. */
const ENGINES: Readonly<Record<string, readonly string[]>> = {
  Bun: [process.execPath],
  'Node 20': ['npx', '-y', 'node@20'],
  'Node, newest': ['npx', '-y', 'node@latest'],
};

interface Printed {
  readonly engine: string;
  readonly sha256: string;
  readonly ns: Readonly<Record<keyof typeof KERNELS, number>>;
}

/**
 * Returns a row for each engine and kernel. The engines take turns, each in a new process per turn. The times are of the processor. Throws
 * an error if two engines have other bits. An engine that cannot start has no rows, and `missing` gets its name.
 */
export function engineResults(turns: number, missing: string[]): Result[] {
  const printed = new Map<string, Printed[]>(Object.keys(ENGINES).map((name) => [name, []]));
  for (let turn = 0; turn < turns; turn++) {
    for (const [name, command] of Object.entries(ENGINES)) {
      if (missing.includes(name)) continue;
      const { exitCode, stdout } = spawn([
        ...command,
        join(import.meta.dir, 'kernel-results.mjs'),
        join(ROOT, 'build/kernels'),
        '8000',
        '15',
      ]);
      if (exitCode === 0) printed.get(name)!.push(JSON.parse(stdout));
      else missing.push(name);
    }
  }
  const hashes = new Set([...printed.values()].flat().map(({ sha256 }) => sha256));
  if (hashes.size > 1) throw new Error('the engines have different bits');
  return (Object.keys(KERNELS) as (keyof typeof KERNELS)[]).flatMap((kernel) => {
    const base = printed.get('Bun')!.map(({ ns }) => ns[kernel]);
    return [...printed].flatMap(([name, each]) => {
      const times = each.map(({ ns }) => ns[kernel]);
      if (times.length === 0) return [];
      const ratios = times.map((time, turn) => time / base[turn]!);
      const quartiles = (values: readonly number[]) => [quantile(values, 0.25), quantile(values, 0.75)] as const;
      return [
        {
          name: `${name}: ${KERNELS[kernel]}`,
          ns: quantile(times, 0.5),
          quartiles: quartiles(times),
          ratio: quantile(ratios, 0.5),
          spread: quartiles(ratios),
        },
      ];
    });
  });
}

function spawn(command: readonly string[]): { exitCode: number; stdout: string } {
  try {
    const { exitCode, stdout } = Bun.spawnSync([...command], { stderr: 'ignore' });
    return { exitCode, stdout: stdout.toString() };
  } catch {
    return { exitCode: 1, stdout: '' };
  }
}

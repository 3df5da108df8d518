import { cpus, loadavg, platform, release } from 'node:os';
import { join } from 'node:path';
import { FLAGS } from './native.ts';
import dependencies from './package.json';
import { PEER_ENV, PYTHON } from './peer-process.ts';
import { PEER_PACKAGES } from './peers.ts';

/** Where and when a benchmark ran, and with which programs. */
export interface Machine {
  readonly commit: string;
  readonly date: string;
  readonly processor: string;
  readonly system: string;
  /** The average number of processes that wanted a core in the minute before. Above 0.5, other work disturbs the times. */
  readonly load: number;
  readonly bun: string;
  readonly compiler: string;
  readonly versions: Readonly<Record<string, string>>;
}

/** Processors by vendor, family and model of `lscpu`, whose names in a virtual machine often do not tell the generation. */
const GENERATIONS: Readonly<Record<string, string>> = {
  'AuthenticAMD 23 49': 'Zen 2, Rome',
  'AuthenticAMD 25 1': 'Zen 3, Milan',
  'AuthenticAMD 25 17': 'Zen 4, Genoa',
  'AuthenticAMD 26 2': 'Zen 5, Turin',
  'GenuineIntel 6 85': 'Skylake or Cascade Lake',
  'GenuineIntel 6 106': 'Ice Lake',
  'GenuineIntel 6 143': 'Sapphire Rapids',
  'GenuineIntel 6 207': 'Emerald Rapids',
};

export function machine(): Machine {
  const lscpu = output('lscpu');
  const cpu = (field: string) => new RegExp(`^${field}:\\s*(.*)$`, 'm').exec(lscpu)?.[1] ?? '?';
  const [vendor, family, model] = [cpu('Vendor ID'), cpu('CPU family'), cpu('Model')];
  const generation = GENERATIONS[`${vendor} ${family} ${model}`];
  const git = (...args: string[]) => output('git', '-C', join(import.meta.dir, '..'), ...args);
  const isChanged = git('status', '--porcelain', '--untracked-files=no') !== '';
  const python = output(
    PYTHON,
    '-c',
    'import sys,numpy,scipy; print(sys.version.split()[0], numpy.__version__, scipy.__version__)',
  );
  const [ofPython, numpy, scipy] = python.split(' ');
  const quantlib = /QL_VERSION "([^"]+)"/.exec(
    output('c++', '-E', '-dD', '-include', 'ql/version.hpp', '-x', 'c++', '/dev/null'),
  );
  return {
    commit: `${git('rev-parse', '--short=12', 'HEAD') || 'unknown'}${isChanged ? ' with changes' : ''}`,
    date: new Date().toISOString().slice(0, 10),
    processor:
      `${cpus()[0]?.model ?? 'unknown'} (${generation ?? 'generation unknown'}; family ${family}, model ${model}, stepping ${cpu('Stepping')}), ` +
      `${cpus().length} cores, L2 ${cpu('L2 cache')}, L3 ${cpu('L3 cache')}`,
    system: `${platform()} ${release()}`,
    load: loadavg()[0]!,
    bun: Bun.version,
    compiler: `${output('c++', '--version').split('\n')[0] || 'none'}, ${FLAGS.join(' ')}`,
    versions: {
      ...(quantlib && { QuantLib: quantlib[1]! }),
      ...(ofPython && { Python: ofPython, numpy: numpy!, scipy: scipy! }),
      ...Object.fromEntries(PEER_PACKAGES.map((name) => [name, dependencies.dependencies[name]])),
    },
  };
}

/** Returns what a program prints, or an empty text if it is missing or fails. */
function output(...command: string[]): string {
  if (Bun.which(command[0]!) === null) return '';
  const { success, stdout } = Bun.spawnSync(command, { stderr: 'ignore', env: { ...process.env, ...PEER_ENV } });
  return success ? stdout.toString().trim() : '';
}

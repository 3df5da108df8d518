import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_OPTIONS } from '../src/analytics/chain/options.ts';
import { prepareChain } from '../src/analytics/chain/prepare.ts';
import { netGammaProfile } from '../src/analytics/exposure/gamma-profile.ts';
import { type GexLevels, gexLevels } from '../src/analytics/exposure/gex-levels.ts';
import { distinctOptions } from '../src/bench/workloads.ts';
import { runToCompletion } from '../src/core/steps.ts';
import { BINARY, withFolder } from '../test/support/process.ts';
import { CHAINS_ARE, putChain } from './chain-files.ts';
import { missingPeers, PEER_ENV, PYTHON, pythonFile, startPeer, startPeerWorker } from './peer-process.ts';
import { chainOfFile } from './stages.ts';
import { generatedBy, inTurns, type Median, medianOf, medianText, ratioOf, runSection, targetLine } from './turns.ts';

const HEADING = '## Text: beside Polars and numpy';
/** Targets: our CPU time divided by that of Polars and numpy. */
const CHAIN_RATIO = 0.4;
const GREEKS_RATIO = 0.6;
const NEEDED = [['numpy', 'scipy'], ['nodejs-polars']] as const;

export interface TextOptions {
  /** Rounds of the chain, and of the Greeks. */
  readonly chainRounds: number;
  readonly greeksRounds: number;
  /** Number of options in the CSV of the Greeks. */
  readonly rows: number;
}

const FULL: TextOptions = { chainRounds: 41, greeksRounds: 5, rows: 1_000_000 };

export interface TextFigures {
  /** The packages that are missing. Without them, the peers have no figures. */
  readonly missing: readonly string[];
  readonly contracts: number;
  /** CPU times, ms. */
  readonly chain: Compared;
  readonly greeks: Compared;
}

export interface Compared {
  readonly ours: Median;
  readonly peer: Median;
  readonly ratio: Median;
}

/** Measures our work and that of the peers in turns: a chain file to its levels in a warm process, and Greeks from CSV to CSV. */
export function measureText(command: readonly string[], options: TextOptions, only?: string): Promise<TextFigures> {
  const missing = missingPeers(...NEEDED);
  return withFolder(async (folder) => {
    const path = putChain(folder, 'name');
    return {
      missing,
      contracts: chainOfFile(path).count,
      chain: only === 'greeks' ? NONE : await compareChain(path, folder, options.chainRounds, missing.length === 0),
      greeks: only === 'chain' ? NONE : await compareGreeks(command, folder, options, missing.length === 0),
    };
  });
}

const NAN: Median = [Number.NaN, Number.NaN, Number.NaN];
const NONE: Compared = { ours: NAN, peer: NAN, ratio: NAN };

/** Number of runs after which the compiler is done. Up to 200 runs, its threads take 1 to 2.5 ms of CPU during each run, and later 0.3 ms. */
const WARM_RUNS = 250;
const PEER_WARM_RUNS = 15;
/** The largest difference of the flips and walls of the two, as a share of spot. The rules for stale quotes differ. */
const LEVELS_DIFFER_MAX = 0.02;

async function compareChain(path: string, folder: string, rounds: number, hasPeer: boolean): Promise<Compared> {
  const ours = () => {
    const prepared = runToCompletion(prepareChain(chainOfFile(path), DEFAULT_OPTIONS));
    const levels = runToCompletion(gexLevels(prepared, new Map()));
    runToCompletion(netGammaProfile(prepared, 0.2));
    return levels;
  };
  const timed = async () => {
    const before = process.cpuUsage();
    ours();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e3;
  };
  for (let run = 0; run < WARM_RUNS; run++) ours();
  if (!hasPeer) return comparedOf(await inTurns(rounds, [timed]));
  using polars = startPeerWorker();
  using numpy = startPeer([PYTHON, pythonFile('chain.py')]);
  const peer = async () => {
    const raw = join(folder, 'chain.raw');
    const read = await polars.ask<{ cpuMs: number; rows: number; spot: number }>({ do: 'chain', path, raw });
    const answer = await numpy.ask<{ cpuMs: number; levels: Record<string, number> }>({
      path: raw,
      count: read.rows,
      spot: read.spot,
    });
    return { cpuMs: read.cpuMs + answer.cpuMs, spot: read.spot, levels: answer.levels };
  };
  for (let run = 0; run < PEER_WARM_RUNS; run++) await peer();
  checkLevels(ours(), await peer());
  return comparedOf(await inTurns(rounds, [timed, async () => (await peer()).cpuMs]));
}

function checkLevels(
  { flip, walls }: GexLevels,
  { spot, levels }: { spot: number; levels: Record<string, number> },
): void {
  const pairs = { flip: flip.level, call_wall: walls.callUnsided, put_wall: walls.putUnsided };
  for (const [name, value] of Object.entries(pairs)) {
    if (Math.abs(value - levels[name]!) > LEVELS_DIFFER_MAX * spot)
      throw new Error(`${name} is ${value}, and of Polars and numpy ${levels[name]}`);
  }
}

/** Compares whole processes. The peer's are two, of Polars and of numpy. The passing of columns between them does not count. */
async function compareGreeks(
  command: readonly string[],
  folder: string,
  { rows, greeksRounds }: TextOptions,
  hasPeer: boolean,
): Promise<Compared> {
  const [source, target, raw, answer] = ['options.csv', 'greeks.csv', 'options.raw', 'greeks.raw'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  writeOptions(source, rows);
  const cpuOfRun = async (run: readonly string[], stdout: 'ignore' | ReturnType<typeof Bun.file>) => {
    const child = Bun.spawn([...run], {
      stdout,
      stderr: 'inherit',
      stdin: 'ignore',
      env: { ...process.env, ...PEER_ENV },
    });
    if ((await child.exited) !== 0) throw new Error(`${run.join(' ')} failed`);
    return Number(child.resourceUsage()!.cpuTime.total) / 1e3;
  };
  const ours = () => cpuOfRun([...command, 'greeks', source], Bun.file(target));
  if (!hasPeer) return comparedOf(await inTurns(greeksRounds, [ours]));
  const peer = async () => {
    using polars = startPeerWorker();
    const read = await polars.ask<{ cpuMs: number }>({ do: 'options', path: source, raw });
    const computed = await cpuOfRun([PYTHON, pythonFile('greeks.py'), raw, answer, String(rows)], 'ignore');
    const written = await polars.ask<{ cpuMs: number }>({ do: 'greeks', raw: answer, path: `${target}.peer` });
    return read.cpuMs + computed + written.cpuMs;
  };
  const figures = await inTurns(greeksRounds, [ours, peer]);
  await checkGreeks(target, `${target}.peer`);
  return comparedOf(figures);
}

function comparedOf([ours, peer]: readonly (readonly number[])[]): Compared {
  if (!peer) return { ...NONE, ours: medianOf(ours!) };
  return { ours: medianOf(ours!), peer: medianOf(peer), ratio: ratioOf(ours!, peer) };
}

/** Throws an error if the last lines of the two files differ by more than 1e-9 of a value, or of one in values close to zero. */
async function checkGreeks(ours: string, peers: string): Promise<void> {
  const last = async (path: string) =>
    (await Bun.file(path).text()).trimEnd().split('\n').at(-1)!.split(',').slice(1).map(Number);
  const [own, other] = await Promise.all([last(ours), last(peers)]);
  own.forEach((value, i) => {
    if (!(Math.abs(value - other[i]!) <= 1e-9 * Math.max(1, Math.abs(value))))
      throw new Error(`${value} is ${other[i]} of Polars and numpy`);
  });
}

function writeOptions(path: string, rows: number): void {
  const { callPut, spot, strike, tte, iv, rate, dividend } = distinctOptions(rows);
  const file = openSync(path, 'w');
  let text = 'put_call,spot,strike,tte,iv,rate,dividend\n';
  for (let i = 0; i < rows; i++) {
    text += `${callPut[i] === 1 ? 'C' : 'P'},${spot[i]},${strike[i]},${tte[i]},${iv[i]},${rate[i]},${dividend[i]}\n`;
    if (text.length < 1e6 && i < rows - 1) continue;
    writeSync(file, text);
    text = '';
  }
  closeSync(file);
}

/** Returns the section of docs/benchmarks.md with these figures. */
export function sectionOf({ missing, contracts, chain, greeks }: TextFigures, { rows }: TextOptions): string {
  const line = (what: string, { ours, peer, ratio }: Compared) =>
    `| ${what} | ${medianText(ours)} | ${medianText(peer)} | ${medianText(ratio)} |\n`;
  return `${HEADING}

${generatedBy('bun bench/text.ts')}

CPU time of all threads, medians with their 95 % interval, in turns. The peer reads and writes CSV with Polars (\`nodejs-polars\`, one thread), and
computes with numpy and scipy. The chain (${CHAINS_ARE}) is read in warm processes: file, forwards by parity, implied
volatilities by Newton, walls, flip, max pain, gamma profile at 161 levels. The Greeks are whole processes (\`zomma greeks\`).
${missing.length > 0 ? `\nNot installed: ${missing.join(', ')}. So the targets are not judged. On another machine, Polars and numpy took 17.8 to 20.2 ms for a chain of\n4,767 contracts, and 1.85 to 2.35 s for 1,000,000 Greeks.\n` : ''}
| | Zomma, ms | Polars and numpy, ms | Zomma over the peer |
|---|---|---|---|
${line(`chain file of ${contracts.toLocaleString('en-US')} contracts to levels, warm`, chain)}${line(`Greeks of ${rows.toLocaleString('en-US')} options, CSV to CSV`, greeks)}
${targetLine('chain file to levels over Polars and numpy', chain.ratio[1], CHAIN_RATIO)}${targetLine('Greeks, CSV to CSV, over Polars and numpy', greeks.ratio[1], GREEKS_RATIO)}`;
}

/** `bun bench/text.ts [chain|greeks] [--write]` takes a minute. */
if (import.meta.main) {
  const only = process.argv[2]?.startsWith('--') ? undefined : process.argv[2];
  await runSection(HEADING, async () => sectionOf(await measureText(BINARY, FULL, only), FULL));
}

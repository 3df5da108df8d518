import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type RaceOptions, type Runner, race } from '../src/bench/race.ts';
import { runToCompletion } from '../src/core/steps.ts';
import { writtenChain } from '../src/feeds/files/delayed-quotes.ts';
import { spotOf } from '../src/feeds/implied-spot.ts';
import { buildChain, type ContractRow } from '../src/market/build-chain.ts';
import type { Chain } from '../src/market/chain.ts';
import { parseOptionSymbol } from '../src/market/option-symbol.ts';
import { encodeChain } from '../src/store/chain-codec.ts';
import { openStore } from '../src/store/sqlite.ts';
import { writeTape } from './tape.ts';

/** Target for the time from bytes to a stored chain, divided by the time of JSON.parse and the transaction only. */
const CHAIN_TARGET = 2;
/** Target for a tape of 28 columns, read and stored. */
const TAPE_TARGET_ROWS_PER_SECOND = 100_000;
/** Target: a tape four times as long raises the peak memory by at most this number of bytes. */
const TAPE_TARGET_BYTES = 64 * 1024 * 1024;
const RECORDED = 'cboe/RUT-2023-09-21.delayed_quotes.json';

/**
 * Measures the ingest of market data, and returns the tables: the stages from a file to a stored chain, and two tapes loaded with
 * `zomma ingest`. The tapes have `rows` and four times `rows` prints.
 */
export async function ingestTables(rows: number, effort: Omit<RaceOptions, 'units'>): Promise<string[]> {
  const folder = process.env.ZOMMA_RECORDED_CHAINS;
  return [
    '',
    '## Ingest of a chain, RUT as recorded on 2023-09-21: delayed-quote JSON of 2.6 MB, 6,680 contracts',
    '',
    ...(folder === undefined
      ? ['Not available: ZOMMA_RECORDED_CHAINS is unset.']
      : chainTable(join(folder, RECORDED), effort)),
    '',
    '## Ingest of a tape of option prints, 28 columns, by `zomma ingest` into a new store',
    '',
    ...(await tapeTable(rows)),
  ];
}

function chainTable(path: string, effort: Omit<RaceOptions, 'units'>): string[] {
  const dir = mkdtempSync(join(tmpdir(), 'zomma-bench-'));
  const store = openStore(join(dir, 'zomma.sqlite'), Date.now);
  try {
    const bytes = readFileSync(path);
    const text = bytes.toString();
    const chain = chainOf(text);
    const rows = rowsOf(chain);
    const symbols = symbolsOf(text);
    const stage = (name: string, run: () => unknown): Runner => ({ name, run: () => void run() });
    const [floor, all, ...stages] = race(
      [
        stage('JSON.parse and the transaction only', () => [JSON.parse(text), store.saveChain(chain)]),
        stage('**from bytes to a stored chain**', () => store.saveChain(chainOf(bytes.toString()))),
        stage('decode', () => bytes.toString()),
        stage('JSON.parse', () => JSON.parse(text)),
        stage('symbols', () => symbols.map(parseOptionSymbol)),
        stage('check of spot against the quotes', () => spotOf(chain.spot, rows, chain.asOf)),
        stage('buildChain: check, order, columns', () => buildChain(chain, rows)),
        stage('transaction', () => store.saveChain(chain)),
        stage('*of the transaction:* encode and compress', () => encodeChain(chain)),
      ],
      { units: 1, ...effort },
    );
    const line = ({ name, ns, ratio }: typeof all & object) =>
      `| ${name} | ${(ns / 1e6).toPrecision(3)} | ${ratio.toPrecision(3)} |`;
    const reached = all!.ratio <= CHAIN_TARGET ? 'reached' : 'missed';
    return [
      '| | ms | time over the first row |',
      '|---|---|---|',
      ...[floor!, all!, ...stages].map(line),
      '',
      'The stages do not add up to the second row. Its other work is to check the bounds of the JSON before parsing, and to convert the listed',
      'options to rows.',
      '',
      `- within ${CHAIN_TARGET}x of JSON.parse and the transaction only: ${effort.rounds < 5 ? 'not measured' : reached}`,
    ];
  } finally {
    store.close();
    rmSync(dir, { recursive: true });
  }
}

function chainOf(text: string): Chain {
  const snapshot = runToCompletion(writtenChain(text, 'files:RUT'));
  if (!snapshot) throw new Error('the recorded file has no chain');
  return snapshot.chain;
}

function symbolsOf(text: string): string[] {
  return JSON.parse(text).data.options.map(({ option }: { option: string }) => option);
}

/** Returns the rows of a chain, in the chain's order. */
function rowsOf(chain: Chain): ContractRow[] {
  return chain.series.flatMap(({ root, expiry, start, end }) =>
    Array.from({ length: end - start }, (_, each): ContractRow => {
      const value = (column: Float64Array) => column[start + each]!;
      return {
        ...{ root, expiry, callPut: value(chain.callPut), strike: value(chain.strike), bid: value(chain.bid) },
        ...{ ask: value(chain.ask), last: value(chain.last), volume: value(chain.volume) },
        ...{ openInterest: value(chain.openInterest), iv: value(chain.iv), delta: value(chain.delta) },
        ...{ gamma: value(chain.gamma), multiplier: value(chain.multiplier) },
      };
    }),
  );
}

interface Loaded {
  readonly kept: number;
  readonly rows_per_second: number;
}

/** Loads each tape in a process of its own, because the system measures the peak memory of a process. */
async function tapeTable(rows: number): Promise<string[]> {
  const runs: { rows: number; perSecond: number; cpuSeconds: number; peakBytes: number }[] = [];
  for (const count of [rows, 4 * rows]) {
    const dir = mkdtempSync(join(tmpdir(), 'zomma-bench-'));
    try {
      writeTape(join(dir, 'tape.csv'), count);
      const command = [
        process.execPath,
        resolve(import.meta.dir, '../src/main.ts'),
        'ingest',
        join(dir, 'tape.csv'),
        '--json',
      ];
      const child = Bun.spawn([...command, '--data-dir', join(dir, 'data')], { cwd: dir, stdout: 'pipe' });
      let peakBytes = 0;
      const watch = setInterval(() => {
        peakBytes = Math.max(peakBytes, peakOf(child.pid));
      }, LOOK_MS);
      const { kept, rows_per_second } = (await new Response(child.stdout).json()) as Loaded;
      clearInterval(watch);
      if (kept !== count) throw new Error(`zomma ingest stored ${kept} of ${count} prints`);
      await child.exited;
      const { cpuTime } = child.resourceUsage()!;
      runs.push({
        rows: count,
        perSecond: rows_per_second,
        cpuSeconds: Number(cpuTime.total) / 1e6,
        peakBytes,
      });
    } finally {
      rmSync(dir, { recursive: true });
    }
  }
  const [short, long] = runs as [(typeof runs)[0], (typeof runs)[0]];
  const verdict = (holds: boolean) => (rows < 100_000 ? 'not measured' : holds ? 'reached' : 'missed');
  return [
    '| rows | rows a second | CPU µs a row | peak memory, MiB |',
    '|---|---|---|---|',
    ...runs.map(
      (run) =>
        `| ${run.rows.toLocaleString('en-US')} | ${run.perSecond.toLocaleString('en-US')} | ${((1e6 * run.cpuSeconds) / run.rows).toPrecision(3)} | ${Math.round(run.peakBytes / 2 ** 20)} |`,
    ),
    '',
    `- >= ${TAPE_TARGET_ROWS_PER_SECOND.toLocaleString('en-US')} rows a second: ${verdict(short.perSecond >= TAPE_TARGET_ROWS_PER_SECOND)}`,
    `- at most ${TAPE_TARGET_BYTES / 2 ** 20} MiB more memory for a tape four times as long: ${verdict(long.peakBytes - short.peakBytes <= TAPE_TARGET_BYTES)}`,
  ];
}

const LOOK_MS = 50;

/**
 * Returns the peak of a process's resident memory so far, bytes. Returns 0 if the system has no /proc, or if the process has ended.
 * `getrusage` would also count the memory of the parent process when it started the child.
 */
function peakOf(pid: number): number {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return 1024 * Number(kilobytes ?? 0);
  } catch {
    return 0;
  }
}

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RaceOptions, type Runner, race } from '../src/bench/race.ts';
import { runToCompletion } from '../src/core/steps.ts';
import { writtenChain } from '../src/feeds/files/delayed-quotes.ts';
import { spotOf } from '../src/feeds/implied-spot.ts';
import { buildChain } from '../src/market/build-chain.ts';
import type { Chain } from '../src/market/chain.ts';
import { ContractBatch, type ContractRow } from '../src/market/contract-batch.ts';
import { parseOptionSymbol } from '../src/market/option-symbol.ts';
import { encodeChain } from '../src/store/chain-codec.ts';
import { openStore } from '../src/store/sqlite.ts';
import type { Keep } from './stages.ts';

/** Target for the time from bytes to a stored chain, divided by the time of JSON.parse and the transaction only. */
const CHAIN_TARGET = 2;
const RECORDED = 'cboe/RUT-2023-09-21.delayed_quotes.json';

const TITLE = 'Ingest of a chain, RUT as recorded on 2023-09-21: delayed-quote JSON of 2.6 MB, 6,680 contracts';

/** Measures the ingest of a chain, and returns the table: the stages from a file to a stored chain. `keep` gets the results. */
export function ingestTable(effort: Omit<RaceOptions, 'units'>, keep: Keep = () => {}): string[] {
  const folder = process.env.ZOMMA_RECORDED_CHAINS;
  return [
    '',
    `## ${TITLE}`,
    '',
    ...(folder === undefined
      ? ['Not available: ZOMMA_RECORDED_CHAINS is unset.']
      : chainTable(join(folder, RECORDED), effort, keep)),
  ];
}

function chainTable(path: string, effort: Omit<RaceOptions, 'units'>, keep: Keep): string[] {
  const dir = mkdtempSync(join(tmpdir(), 'zomma-bench-'));
  const store = openStore(join(dir, 'zomma.sqlite'), Date.now);
  try {
    const bytes = readFileSync(path);
    const text = bytes.toString();
    const chain = chainOf(text);
    const rows = rowsOf(chain);
    const symbols = symbolsOf(text);
    const stage = (name: string, run: () => unknown): Runner => ({ name, run: () => void run() });
    const results = race(
      [
        stage('JSON.parse and the transaction only', () => [JSON.parse(text), store.saveChain(chain)]),
        stage('**from bytes to a stored chain**', () => store.saveChain(chainOf(bytes.toString()))),
        stage('decode', () => bytes.toString()),
        stage('JSON.parse', () => JSON.parse(text)),
        stage('symbols', () => symbols.map(parseOptionSymbol)),
        stage('check of spot against the quotes', () => {
          using contracts = ContractBatch.of(rows);
          spotOf(chain.spot, contracts, contracts.rows, chain.asOf);
        }),
        stage('buildChain: check, order, columns', () => buildChain(chain, rows)),
        stage('transaction', () => store.saveChain(chain)),
        stage('*of the transaction:* encode and compress', () => encodeChain(chain)),
      ],
      { ...effort, units: 1 },
    );
    keep(TITLE, results);
    const [floor, all, ...stages] = results;
    const ms = (ns: number) => (ns / 1e6).toPrecision(3);
    const line = ({ name, ns, quartiles: [low, high], ratio }: typeof all & object) =>
      `| ${name} | ${ms(ns)} (${ms(low)} to ${ms(high)}) | ${ratio.toPrecision(3)} |`;
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

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_OPTIONS } from '../src/analytics/chain/options.ts';
import { prepareChain } from '../src/analytics/chain/prepare.ts';
import { exposuresOf } from '../src/analytics/exposure/dollar-exposures.ts';
import { exposureFlips } from '../src/analytics/exposure/exposure-flips.ts';
import { exposuresByStrike } from '../src/analytics/exposure/exposures-by-strike.ts';
import { gammaFlip } from '../src/analytics/exposure/gamma-flip.ts';
import { netGammaProfile } from '../src/analytics/exposure/gamma-profile.ts';
import { gexLevels } from '../src/analytics/exposure/gex-levels.ts';
import { maxPain } from '../src/analytics/exposure/max-pain.ts';
import { strikeGamma, walls } from '../src/analytics/exposure/walls.ts';
import { fitSurface } from '../src/analytics/surface/fit-surface.ts';
import { type RaceOptions, type Result, type Runner, race } from '../src/bench/race.ts';
import { runToCompletion } from '../src/core/steps.ts';
import { readMarketFile } from '../src/feeds/files/read-market-file.ts';
import type { Chain } from '../src/market/chain.ts';
import { indexChain } from './index-chain.ts';

/** Target for the time from the columns of a chain to all levels, ms, after the compiler has optimised the code, on one core. */
const TARGET_MS = 15;
/** Targets for the time from a prepared chain to its surface, ms: 30,000 contracts of a simulated index, and the recorded chain. */
const SURFACE_TARGETS_MS = { simulated: 80, recorded: 25 };
const SURFACE = '*in addition:* volatility surface';

/** A recorded chain as the exchange's website serves it. */
const RECORDED = 'cboe/RUT-2023-09-21.delayed_quotes.json';

/**
 * Returns a table for each of two chains: a simulated index, and a recorded chain if ZOMMA_RECORDED_CHAINS is set. The rows are the times
 * of the stages of an analysis. The stages take turns in one process. `size` bounds the number of expiries and strikes of the index. `keep`
 * gets the results of each table.
 */
export function stageTables(size: number, effort: Omit<RaceOptions, 'units'>, keep: Keep = () => {}): string[] {
  const made = indexChain(Math.min(50, Math.ceil(size / 8)), Math.min(300, Math.ceil(size / 2)));
  const folder = process.env.ZOMMA_RECORDED_CHAINS;
  return [
    ...table('a simulated index', made, SURFACE_TARGETS_MS.simulated, effort, keep),
    '',
    'About half of the time is arithmetic in the kernels: flip, exposures and gamma. In `prepare`, it is also the solving of',
    'the volatilities from the middles of the quotes. Most of the rest is choosing among quotes, row by row: which side, which volatility,',
    'which quotes are stale.',
    '',
    'The stages do not add up to the first row. Its other work is to sum gamma by strike and by series, and to find the dominant series and its',
    'max pain.',
    ...(folder === undefined
      ? ['', 'The recorded RUT chain is not available: ZOMMA_RECORDED_CHAINS is unset.']
      : table(
          'RUT as recorded on 2023-09-21',
          chainOfFile(join(folder, RECORDED)),
          SURFACE_TARGETS_MS.recorded,
          effort,
          keep,
        )),
  ];
}

/** Takes the title and the results of a table. */
export type Keep = (title: string, results: readonly Result[]) => void;

function table(
  name: string,
  chain: Chain,
  surfaceTargetMs: number,
  effort: Omit<RaceOptions, 'units'>,
  keep: Keep,
): string[] {
  const title = `Stages of an analysis, ${name}: ${chain.count.toLocaleString('en-US')} contracts in ${chain.series.length} series`;
  const results = race(stagesOf(chain), { ...effort, units: 1 });
  keep(title, results);
  const [all, ...stages] = results;
  const ms = (ns: number) => (ns / 1e6).toPrecision(3);
  const row = ({ name: stage, ns, quartiles: [low, high], ratio }: typeof all & object) =>
    `| ${stage} | ${ms(ns)} (${ms(low)} to ${ms(high)}) | ${(100 * ratio).toPrecision(3)} % |`;
  const verdict = (ns: number, mostMs: number) =>
    effort.rounds < 5 ? 'not measured' : ns <= mostMs * 1e6 ? 'reached' : 'missed';
  const surface = stages.find(({ name: stage }) => stage === SURFACE)!;
  return [
    '',
    `## ${title}`,
    '',
    "| | ms | share of the first row's time |",
    '|---|---|---|',
    row(all!),
    ...stages.map(row),
    '',
    `- all levels within ${TARGET_MS} ms: ${verdict(all!.ns, TARGET_MS)}`,
    `- volatility surface within ${surfaceTargetMs} ms: ${verdict(surface.ns, surfaceTargetMs)}`,
  ];
}

/**
 * Returns the complete analysis, then its stages, then computations in addition to the levels. Results are cached by the objects of chains
 * and series, so a run that would find a cached result makes a new object. An exception is the stage of the walls: it finds the sums of gamma
 * by strike in the cache, and only ranks the strikes.
 */
function stagesOf(chain: Chain): Runner[] {
  const prepare = () => runToCompletion(prepareChain({ ...chain }, DEFAULT_OPTIONS));
  const ready = prepare();
  const stage = (name: string, work: () => unknown): Runner => ({ name, run: () => void work() });
  return [
    stage('**from columns to all levels**', () => runToCompletion(gexLevels(prepare(), new Map()))),
    stage('prepare: forwards, volatilities, smiles, gammas', prepare),
    stage('exposures: delta, gamma, vanna, charm', () => runToCompletion(exposuresOf(ready))),
    stage('flip', () => runToCompletion(gammaFlip({ ...ready }))),
    stage('walls: ranking of the strikes', () => walls(runToCompletion(strikeGamma(ready)), chain.spot)),
    stage('*in addition:* max pain of every series', () => ready.series.map((series) => maxPain(ready, series))),
    stage('*in addition:* profile at 161 levels', () => runToCompletion(netGammaProfile(ready, 0.2))),
    stage('*in addition:* exposures by strike', () => runToCompletion(exposuresByStrike(ready))),
    stage('*in addition:* vanna and charm flips', () => runToCompletion(exposureFlips(ready))),
    stage(SURFACE, () => runToCompletion(fitSurface(ready))),
  ];
}

/** Returns the chain of a market-data file. */
export function chainOfFile(path: string): Chain {
  const delivered = runToCompletion(readMarketFile(readFileSync(path), { origin: path }));
  const chain = delivered.find((each) => each.kind === 'chain')?.chain;
  if (chain === undefined) throw new Error(`${path} has no chain`);
  return chain;
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runToCompletion } from '../../src/core/steps.ts';
import { readMarketFile } from '../../src/feeds/files/read-market-file.ts';
import type { Chain } from '../../src/market/chain.ts';
import { IS_FULL } from '../support/size.ts';

/** Names of all chains in a folder of recordings, as `UNDERLYING YYYY-MM-DD`: the beginning of the file name. */
export function recordedNames(dir: string): string[] {
  return files(dir).map((file) => nameOf(file));
}

/** In the everyday run, every third of these chains: still an index, a fund and stocks. */
export function someRecorded(dir: string): string[] {
  return recordedNames(dir).filter((_, i) => IS_FULL || i % 3 === 0);
}

/** One recorded chain, read only once. */
export function recordedChain(dir: string, name: string): Chain {
  const file = files(dir).find((each) => nameOf(each) === name);
  if (file === undefined) throw new Error(`no recording of ${name}`);
  const known = chains.get(file);
  if (known !== undefined) return known;
  const [delivery] = runToCompletion(readMarketFile(readFileSync(join(dir, file)), { origin: file }));
  if (delivery?.kind !== 'chain') throw new Error(`${file} holds no chain`);
  chains.set(file, delivery.chain);
  return delivery.chain;
}

const chains = new Map<string, Chain>();

function files(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((file) => /[A-Z]+-\d{4}-\d\d-\d\d\.[\w.]+$/.test(file))
    .sort();
}

function nameOf(file: string): string {
  const [, ticker, date] = /([A-Z]+)-(\d{4}-\d\d-\d\d)\.[\w.]+$/.exec(file)!;
  return `${ticker} ${date}`;
}

import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { generator } from '../src/bench/workloads.ts';

/** The ticker of the artificial tape. */
export const TICKER = 'SPX';
/** Number of contracts. */
const CONTRACTS = 2_000;
/** The date of the tape's first day. */
const FIRST_DAY = '2026-08-03';
const SESSION_MS = 6.5 * 3_600_000;
/**
 * Sizes of trades, in contracts. All entries are equally likely: a quarter of the trades are of one contract, and round numbers are
 * frequent.
 */
const SIZES = [1, 1, 1, 1, 1, 2, 2, 3, 4, 5, 5, 10, 10, 10, 20, 25, 50, 100, 100, 500];
/** Of twenty trades, 8 are at the bid, 8 at the ask, 3 at the middle, and 1 is a tick above the bid. The numbers below are cumulative. */
const PLACES = { bid: 8, ask: 16, middle: 19 };
/** Cumulative shares of the trades' conditions. The remaining trades are `slan`. */
const SHARES_OF_FLAGS = { auto: 0.6, isoi: 0.75, mlet: 0.95 };

interface Contract {
  readonly symbol: string;
  readonly expiry: string;
  readonly isCall: boolean;
  readonly strike: number;
  /** Time value that the contract has at the money, dollars. */
  readonly value: number;
}

/**
 * Writes an artificial tape, and a chain of its contracts. Each call writes the same values, which repeat as often as those of listed
 * options:
 * - Spot is a random walk, and the quotes of a contract follow spot. Prices below three dollars are multiples of a cent, and other prices
 *   are multiples of five cents. Quotes are one to three ticks wide. A trade is at the bid, at the ask or between them.
 * - Of the 2,000 contracts, the n-th most traded has 1/n of the trades of the first (Zipf's law).
 * - Most sizes are small or round numbers. Deltas have four decimals. Times have microseconds.
 */
export function writeListedTape(folder: string, rows: number, days: number): { tape: string; chain: string } {
  const random = generator(7);
  const dates = tradingDays(days);
  const contracts = contractsFrom(dates.at(-1)!, random);
  const popular = cumulative(contracts.length);
  const [tape, chain] = [`${folder}/tape.csv`, `${folder}/chain.csv`];
  const file = openSync(tape, 'w');
  let text = `${COLUMNS}\n`;
  let spot = 5_000;
  for (let row = 0; row < rows; row++) {
    const perDay = Math.ceil(rows / days);
    const within = row % perDay;
    const micros = Math.floor(((within + random()) * SESSION_MS * 1_000) / perDay);
    spot += 0.4 * (random() - 0.5);
    const its = contracts[pick(popular, random())]!;
    text += `${rowOf(dates[Math.floor(row / perDay)]!, micros, its, spot, random)}\n`;
    if (text.length < 1e6) continue;
    writeSync(file, text);
    text = '';
  }
  writeSync(file, text);
  closeSync(file);
  writeFileSync(chain, chainOf(contracts, dates.at(-1)!, spot));
  return { tape, chain };
}

const COLUMNS =
  'executed_at,option_chain_id,side,nbbo_bid,nbbo_ask,price,size,delta,exchange,report_flags,canceled,upstream_condition_detail';

function rowOf(date: string, micros: number, its: Contract, spot: number, random: () => number): string {
  const { symbol, isCall, strike, value } = its;
  const inTheMoney = isCall ? spot - strike : strike - spot;
  const fair = Math.max(0.05, Math.max(0, inTheMoney) + value * Math.exp(-Math.abs(inTheMoney) / 50));
  const tick = fair < 3 ? 0.01 : 0.05;
  const bid = Math.floor(fair / tick) * tick;
  const ask = bid + tick * (1 + Math.floor(3 * random()));
  const place = Math.floor(20 * random());
  const between = place < PLACES.middle ? (bid + ask) / 2 : bid + tick;
  const price = place < PLACES.bid ? bid : place < PLACES.ask ? ask : between;
  const delta = (isCall ? 1 : -1) / (1 + Math.exp(-inTheMoney / 50));
  const open = Date.parse(`${date}T13:30:00Z`);
  const at = new Date(open + Math.floor(micros / 1_000)).toISOString().slice(0, 23).replace('T', ' ');
  const how = random();
  const flag = Object.entries(SHARES_OF_FLAGS).find(([, share]) => how < share)?.[0] ?? 'slan';
  return [
    `${at}${String(micros % 1_000).padStart(3, '0')}+00`,
    symbol,
    ['ask', 'bid', 'mid', 'no_side'][Math.floor(4 * random())],
    ...[bid, ask].map((each) => each.toFixed(2)),
    Math.max(0.01, price).toFixed(4),
    SIZES[Math.floor(SIZES.length * random())],
    delta.toFixed(4),
    ['XCBO', 'XISX', 'ARCO', 'XPHO'][Math.floor(4 * random())],
    '{}',
    'f',
    flag,
  ].join(',');
}

/** Returns the first weekdays from FIRST_DAY on, as `YYYY-MM-DD`. */
function tradingDays(days: number): string[] {
  const dates: string[] = [];
  for (let at = Date.parse(FIRST_DAY); dates.length < days; at += 86_400_000) {
    if (![0, 6].includes(new Date(at).getUTCDay())) dates.push(new Date(at).toISOString().slice(0, 10));
  }
  return dates;
}

function contractsFrom(lastDay: string, random: () => number): Contract[] {
  const known = new Map<string, Contract>();
  while (known.size < CONTRACTS) {
    const week = 1 + Math.floor(12 * random() ** 2);
    const expiry = new Date(Date.parse(lastDay) + week * 7 * 86_400_000).toISOString().slice(0, 10);
    const strike = 4_500 + 5 * Math.floor(200 * random());
    const isCall = random() < 0.5;
    const symbol = `SPXW${expiry.slice(2).replaceAll('-', '')}${isCall ? 'C' : 'P'}${String(strike * 1_000).padStart(8, '0')}`;
    known.set(symbol, { symbol, expiry, isCall, strike, value: 20 * Math.sqrt(week) });
  }
  return [...known.values()];
}

/**
 * Returns the text of the chain's file. The open interest is larger than all trades, so that no position is reduced to the open interest.
 */
function chainOf(contracts: readonly Contract[], lastDay: string, spot: number): string {
  const rows = contracts.map(({ symbol, expiry, isCall, strike }) =>
    [
      TICKER,
      `${lastDay}T15:45:00-04:00`,
      spot.toFixed(2),
      symbol,
      expiry,
      isCall ? 'C' : 'P',
      strike,
      9_999_999,
      0.2,
    ].join(','),
  );
  return `underlying,as_of,spot,symbol,expiry,put_call,strike,open_interest,iv\n${rows.join('\n')}\n`;
}

/** Returns the cumulative shares of the terms of the sum 1/1 + 1/2 + … + 1/count. */
function cumulative(count: number): Float64Array {
  const sums = new Float64Array(count);
  for (let i = 0; i < count; i++) sums[i] = (sums[i - 1] ?? 0) + 1 / (i + 1);
  return sums.map((each) => each / sums[count - 1]!);
}

/** Returns the first index whose cumulative share is at least `share`. */
function pick(shares: Float64Array, share: number): number {
  let [low, high] = [0, shares.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (shares[middle]! < share) low = middle + 1;
    else high = middle;
  }
  return low;
}

import { type Instrument, instrumentsOf } from '../../src/feeds/simulated/instruments.ts';
import { type Random, randomOf } from '../../src/feeds/simulated/random.ts';
import { simulatedChain } from '../../src/feeds/simulated/simulated-chain.ts';
import type { ChainHead } from '../../src/market/build-chain.ts';
import { settlementInstant } from '../../src/market/calendar.ts';
import type { Chain } from '../../src/market/chain.ts';
import type { ContractRow } from '../../src/market/contract-batch.ts';
import { settlementOf } from '../../src/market/option-symbol.ts';
import { STANDARD_UNIVERSE } from '../../src/market/universe.ts';
import { EXPIRY, HEAD, LATER, quoted, range, rowsIn, TODAY } from './small-chains.ts';

/** A damaged delivery of a feed, and the damages that produced it. */
export interface Delivery {
  readonly head: ChainHead;
  readonly rows: readonly ContractRow[];
}

export interface DamagedDelivery extends Delivery {
  readonly damages: readonly string[];
}

/** Applies one to four damages to one of the sound deliveries. Deterministic for a seed. */
export function damagedDelivery(seed: number): DamagedDelivery {
  const random = randomOf(seed, 1);
  const oneOf = <Entry>(entries: readonly Entry[]): Entry => random.pick(entries, () => 1);
  let delivery = oneOf(SOUND);
  const damages: string[] = [];
  for (let left = Math.ceil(4 * random.uniform() ** 2); left > 0; left--) {
    const name = oneOf(DAMAGES);
    delivery = DAMAGE[name]!(delivery, random);
    damages.push(name);
  }
  return { ...delivery, damages };
}

const NONE = Number.NaN;

/** Damages by name. A damage of rows affects one in ten, half or all of them. */
const DAMAGE: Readonly<Record<string, (delivery: Delivery, random: Random) => Delivery>> = {
  // Damages of volatility.
  'no IV': rows(() => ({ iv: NONE })),
  'IV of 0': rows(() => ({ iv: 0 })),
  'IV sentinels': rows((_, random) => ({ iv: either(random, [1e-5, 5, 0.125009, 0.250008, 0.500005, 0.02]) })),
  'IV that cannot be': rows((_, random) => ({ iv: either(random, [-0.2, 99, 1e6, Number.POSITIVE_INFINITY]) })),
  // Damages of quotes.
  'zero quotes': rows(() => ({ bid: 0, ask: 0 })),
  'no quotes': rows(() => ({ bid: NONE, ask: NONE })),
  'no bid': rows((_, random) => ({ bid: either(random, [0, NONE]) })),
  'no ask': rows((_, random) => ({ ask: either(random, [0, NONE]) })),
  'negative bids': rows(({ bid }) => ({ bid: -bid })),
  'crossed quotes': rows(({ bid, ask }) => ({ bid: ask, ask: bid })),
  'locked quotes': rows(({ bid }) => ({ ask: bid })),
  'a penny for everything': rows(() => ({ bid: 0.01, ask: 0.02 })),
  'quotes of another contract': rows((_, random) => {
    const bid = 10 ** (8 * random.uniform() - 3);
    return { bid, ask: bid * (1 + random.uniform()) };
  }),
  'huge quotes': rows((_, random) => ({ bid: either(random, [1e6, 9e8, 1e12]), ask: either(random, [1e9, 1e300]) })),
  'calls quoted as puts': rows(({ callPut }) => ({ callPut: -callPut })),
  // Damages of the other values of a contract.
  'no open interest': rows((_, random) => ({ openInterest: either(random, [0, NONE]) })),
  'huge open interest': rows((_, random) => ({
    openInterest: either(random, [1e9, 1e8, 1e15, Number.POSITIVE_INFINITY]),
  })),
  'negative open interest': rows(() => ({ openInterest: -5 })),
  'no volume': rows((_, random) => ({ volume: either(random, [0, NONE]) })),
  'huge volume': rows((_, random) => ({ volume: either(random, [1e9, Number.POSITIVE_INFINITY]) })),
  'no gamma': rows(() => ({ gamma: NONE })),
  'huge gamma': rows((_, random) => ({ gamma: either(random, [1e9, 1e5, -1]) })),
  'no delta': rows(() => ({ delta: NONE })),
  'any delta': rows((_, random) => ({ delta: 4 * random.uniform() - 2 })),
  'last trades only': rows(({ bid, ask }) => ({ bid: NONE, ask: NONE, last: (bid + ask) / 2 })),
  'any multiplier': rows((_, random) => ({ multiplier: either(random, [0, NONE, 1, 1e9, -100]) })),
  // Damages of the listing.
  'no such contract': rows((_, random) =>
    either(random, [
      { strike: 0 },
      { strike: NONE },
      { strike: -5 },
      { strike: 1e6 },
      { callPut: 0 },
      { expiry: '2026-02-30' },
    ]),
  ),
  'another underlying': rows(() => ({ root: 'ZZZZ' })),
  'an adjusted deliverable': rows(({ root }) => ({ root: `${root}1` })),
  'duplicate symbols': (delivery, random) => {
    const again = chosen(delivery.rows, random).map((row) => ({ ...row, bid: 1, ask: 2, iv: 1.5 }));
    return { ...delivery, rows: [...delivery.rows, ...again] };
  },
  'strikes missing': (delivery, random) => {
    const removed = new Set(chosen([...new Set(delivery.rows.map(({ strike }) => strike))], random));
    return { ...delivery, rows: delivery.rows.filter(({ strike }) => !removed.has(strike)) };
  },
  'contracts missing': (delivery, random) => {
    const removed = new Set(chosen(delivery.rows, random));
    return { ...delivery, rows: delivery.rows.filter((row) => !removed.has(row)) };
  },
  'one strike': (delivery, random) => {
    const { strike } = either(random, delivery.rows) ?? {};
    return { ...delivery, rows: delivery.rows.filter((row) => row.strike === strike) };
  },
  'one expiry': (delivery, random) => {
    const { expiry } = either(random, delivery.rows) ?? {};
    return { ...delivery, rows: delivery.rows.filter((row) => row.expiry === expiry) };
  },
  'one contract': (delivery, random) => ({ ...delivery, rows: chosenOne(delivery.rows, random) }),
  'all puts': (delivery) => ({ ...delivery, rows: delivery.rows.filter(({ callPut }) => callPut === -1) }),
  'all calls': (delivery) => ({ ...delivery, rows: delivery.rows.filter(({ callPut }) => callPut === 1) }),
  'strange strikes': rows((_, random) => ({ strike: either(random, [0.001, 0.5, 99_999.999, 12_345.678]) })),
  shuffled: (delivery, random) => ({
    ...delivery,
    rows: delivery.rows
      .map((row) => [random.uniform(), row] as const)
      .sort(([a], [b]) => a - b)
      .map(([, row]) => row),
  }),
  // Damages of the whole delivery.
  'all expired but the last': (delivery) => at(delivery, (settlements) => settlements.at(-2) ?? settlements[0]! - 1),
  'all expired': (delivery) => at(delivery, (settlements) => settlements.at(-1)!),
  'a second before a settlement': (delivery) => at(delivery, (settlements) => settlements[0]! - 1000),
  'quotes of years ago': (delivery) => at(delivery, (settlements) => settlements[0]! - 6 * 365 * 86_400_000),
  'spot far from the strikes': ({ head, rows }, random) => ({
    head: { ...head, spot: head.spot * either(random, [0.01, 0.1, 0.5, 2, 10, 1000]) },
    rows,
  }),
  'spot that cannot be': ({ head, rows }, random) => ({
    head: { ...head, spot: either(random, [0, -1, NONE, Number.POSITIVE_INFINITY, 1e-9, 1e9, 1e10]) },
    rows,
  }),
  'no time': ({ head, rows }) => ({ head: { ...head, asOf: NONE }, rows }),
};

export const DAMAGES = Object.keys(DAMAGE);

type Change = (row: ContractRow, random: Random) => Partial<ContractRow>;

function rows(change: Change): (delivery: Delivery, random: Random) => Delivery {
  return (delivery, random) => {
    const hit = new Set(chosen(delivery.rows, random));
    return {
      ...delivery,
      rows: delivery.rows.map((row) => (hit.has(row) ? { ...row, ...change(row, random) } : row)),
    };
  };
}

function chosen<Entry>(entries: readonly Entry[], random: Random): Entry[] {
  const share = either(random, [0.1, 0.5, 1]);
  return entries.filter(() => random.uniform() < share);
}

function chosenOne<Entry>(entries: readonly Entry[], random: Random): Entry[] {
  return entries.length === 0 ? [] : [either(random, entries)];
}

function either<Entry>(random: Random, entries: readonly Entry[]): Entry {
  return entries[Math.floor(random.uniform() * entries.length)]!;
}

/** Moves the time of the snapshot to an instant between its settlements. */
function at({ head, rows }: Delivery, instant: (settlements: readonly number[]) => number): Delivery {
  // An invalid date never settles.
  const dated = rows.filter(({ expiry }) => !Number.isNaN(Date.parse(expiry)) && expiry !== '2026-02-30');
  const settlements = new Set(dated.map(({ root, expiry }) => settlementInstant(expiry, settlementOf(root))));
  if (settlements.size === 0) return { head, rows };
  return { head: { ...head, asOf: instant([...settlements].sort((a, b) => a - b)) }, rows };
}

/** Small chains that have only quotes, index options of two settlements, and parts of simulated chains. */
const SOUND: readonly Delivery[] = [
  { head: HEAD, rows: small('ACME', range(80, 120, 4), 0.01) },
  { head: HEAD, rows: small('ACME', [90, 95, 100, 105, 110], 0.05) },
  {
    head: { ...HEAD, underlying: 'SPX' },
    rows: [...small('SPX', range(94, 106), 0.02), ...small('SPXW', range(96, 104), 0.02)],
  },
  ...['SPY', 'TSLA', 'PLUG', 'UUP'].map((ticker) => part(simulated(ticker))),
];

function small(root: string, strikes: number[], halfSpread: number): ContractRow[] {
  const skew = (strike: number) => 0.3 - 0.2 * Math.log(strike / HEAD.spot);
  return [TODAY, EXPIRY, LATER].flatMap((expiry) =>
    quoted({ root, strikes, expiry, halfSpread, iv: skew, rest: { openInterest: 250, volume: 40 } }).map((row) => ({
      ...row,
      bid: Math.max(row.bid, 0),
      openInterest: row.openInterest + row.callPut * (row.strike - HEAD.spot + 7),
      ...{ iv: skew(row.strike), delta: row.callPut / 2, gamma: 0.02 },
    })),
  );
}

function simulated(ticker: string): Chain {
  const instrument = instrumentsOf({ seed: 3, universe: STANDARD_UNIVERSE, clock: 'real' }).find(
    (each): each is Instrument => each.ticker === ticker,
  )!;
  return simulatedChain(instrument, Date.parse('2026-01-05T19:00:00Z'));
}

/** Some near and far expiries, each with about twelve strikes. */
function part(chain: Chain): Delivery {
  const { underlying, asOf, spot, source, simulated } = chain;
  const kept = [0, 1, Math.floor(chain.series.length / 2), chain.series.length - 1];
  const all = rowsIn(chain);
  const rows = [...new Set(kept)].flatMap((index) => {
    const { start, end } = chain.series[index]!;
    const every = Math.max(1, Math.floor((end - start) / 24));
    return all.slice(start, end).filter((_, i) => Math.floor(i / 2) % every === 0);
  });
  return { head: { underlying, asOf, spot, source, simulated }, rows };
}

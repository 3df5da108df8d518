import { addDays, closeOf, isTradingDay, newYorkDate, openOf, previousTradingDay } from '../../market/calendar.ts';
import type { Print } from '../../market/prints.ts';
import { type Contract, type Quote, quotesOf } from './contracts.ts';
import type { Instrument } from './instruments.ts';
import { listedStrikesOf, termsOn } from './listing.ts';
import { closeOn } from './price-path.ts';
import { dateKey, type Random, randomOf } from './random.ts';

/** Returns all simulated trades of an instrument on a trading day, all large, in time order. They depend only on these two. */
export function simulatedPrints(instrument: Instrument, date: string): Print[] {
  const random = randomOf(instrument.key, 2, dateKey(date));
  const orders = ordersOf(instrument, date, random);
  return quotesOf(instrument, orders, (i) => orders[i]!.at)
    .flatMap((quote, i) => (quote.bid > 0 ? [printOf(instrument, orders[i]!, quote, random)] : []))
    .sort((a, b) => a.at - b.at);
}

/** Returns the simulated trades of an instrument that are later than `after` but not later than `upTo`, in the order of their days. */
export function simulatedPrintsIn(instrument: Instrument, after: number, upTo: number): Print[] {
  const prints: Print[] = [];
  for (let date = newYorkDate(after); date <= newYorkDate(upTo); date = addDays(date, 1)) {
    if (!isTradingDay(date)) continue;
    prints.push(...simulatedPrints(instrument, date).filter(({ at }) => at > after && at <= upTo));
  }
  return prints;
}

interface Order extends Contract, Pick<Print, 'id' | 'at' | 'multiLeg' | 'sweep' | 'block' | 'canceled'> {}

/** Returns the orders of a day. Each day has a preference for calls or puts, and for one expiry. */
function ordersOf(instrument: Instrument, date: string, random: Random): Order[] {
  const [open, close] = [openOf(date), closeOf(date)];
  const reference = closeOn(instrument, previousTradingDay(date));
  const terms = termsOn(instrument, date);
  const bullish = 0.35 + 0.3 * random.uniform();
  const favourite = terms[Math.floor(random.uniform() ** 3 * terms.length)];
  const count = Math.round(PRINTS_A_DAY * Math.sqrt(instrument.depth / 5_000) * Math.exp(0.5 * random.normal()));

  return Array.from({ length: count }, (_, n): Order[] => {
    const at = Math.floor(open + random.uniform() * (close - open));
    const term = random.pick(terms, (candidate) => (candidate === favourite ? 5 : 1) / candidate.width);
    const callPut = random.uniform() < bullish ? 1 : -1;
    const strikes = listedStrikesOf(instrument, term, reference);
    // In standard deviations out of the money. A few orders are deep in the money, as in box spreads and dividend trades.
    const distance = random.uniform() < 0.05 ? -2 : 1.2 * random.uniform();
    const strikeAt = (deviations: number) => nearest(strikes, reference * Math.exp(callPut * deviations * term.width));
    const id = `simulated:${instrument.key.toString(16)}:${date}:${n}`;
    const [multiLeg, canceled] = [random.uniform() < 0.15, random.uniform() < 0.02];
    const manner = multiLeg ? 1 : random.uniform();
    const order = { at, term, callPut, multiLeg, canceled, sweep: manner < 0.3, block: manner > 0.9 } as const;
    const first: Order = { ...order, id, strike: strikeAt(distance) };
    return order.multiLeg ? [first, { ...order, id: `${id}b`, strike: strikeAt(distance + 0.5) }] : [first];
  }).flat();
}

/** Median number of orders per day for an instrument with a depth of 5,000 contracts. */
const PRINTS_A_DAY = 4;
/** Median premium if the size is not bound, dollars. About a third of the trades have a premium below 100,000 dollars, the limit for large prints. */
const PREMIUM_MEDIAN = 260_000;

/** Returns the number of contracts of a print: at most the open interest of a busy strike, because few cheap options trade at once. */
function sizeOf(price: number, { depth }: Instrument, random: Random): number {
  const contracts = Math.min(depth, (PREMIUM_MEDIAN * Math.exp(random.normal())) / (100 * price));
  // Large orders have round numbers of contracts.
  const lot = contracts > 1_000 ? 100 : contracts > 100 ? 10 : 1;
  return Math.max(1, Math.round(contracts / lot) * lot);
}

/** Returns the print of an order at the ask, bid or mid. A third of the purchases and sales is between the mid and the ask or bid. */
function printOf(instrument: Instrument, order: Order, { bid, ask, delta }: Quote, random: Random): Print {
  const side = random.pick(SIDES, ([, weight]) => weight)[0];
  const touch = side === 'ask' ? ask : side === 'bid' ? bid : (bid + ask) / 2;
  const better = random.uniform() < 1 / 3 ? 0.5 * random.uniform() : 0;
  const price = Math.round((touch + better * ((bid + ask) / 2 - touch)) * 1e4) / 1e4;
  const { term, callPut, strike, at, id, multiLeg, sweep, block, canceled } = order;
  return {
    id,
    underlying: instrument.ticker,
    root: term.root,
    expiry: term.expiry,
    callPut,
    strike,
    multiplier: 100,
    at,
    price,
    size: sizeOf(price, instrument, random),
    side: random.uniform() < SIDE_KNOWN_SHARE ? side : null,
    bid,
    ask,
    delta,
    multiLeg,
    sweep,
    block,
    canceled,
    simulated: true,
  };
}

const SIDES: readonly (readonly ['ask' | 'bid' | 'mid', number])[] = [
  ['ask', 0.5],
  ['bid', 0.39],
  ['mid', 0.11],
];
/** Share of prints whose side is given. */
const SIDE_KNOWN_SHARE = 0.85;

function nearest(strikes: readonly number[], price: number): number {
  return strikes.reduce((best, strike) => (Math.abs(strike - price) < Math.abs(best - price) ? strike : best));
}

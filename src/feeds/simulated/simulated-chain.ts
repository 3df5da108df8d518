import { buildChain, type ContractRow } from '../../market/build-chain.ts';
import { closeOf, newYorkDate, openOf, previousTradingDay } from '../../market/calendar.ts';
import type { Chain } from '../../market/chain.ts';
import { type Contract, quotesOf, tickOf } from './contracts.ts';
import type { Instrument } from './instruments.ts';
import { listedStrikesOf, termsOn } from './listing.ts';
import { closeOn, spotAt } from './price-path.ts';
import { dateKey, uniform } from './random.ts';

/**
 * Returns the chain of an instrument as it is quoted at an instant of market hours. The chain depends only on the instrument, whose keys
 * come from the seed, and on the instant.
 */
export function simulatedChain(instrument: Instrument, asOf: number): Chain {
  const date = newYorkDate(asOf);
  const reference = closeOn(instrument, previousTradingDay(date));
  const session = (asOf - openOf(date)) / (closeOf(date) - openOf(date));
  const contracts = termsOn(instrument, date)
    .filter((term) => term.settlesAt > asOf)
    .flatMap((term) =>
      listedStrikesOf(instrument, term, reference).flatMap((strike): Contract[] => [
        { term, callPut: 1, strike },
        { term, callPut: -1, strike },
      ]),
    );
  const quotes = quotesOf(instrument, contracts, () => asOf);
  const today = dateKey(date);
  const rows = contracts.map((contract, i): ContractRow => {
    const { bid, ask, iv, delta, gamma, price } = quotes[i]!;
    const openInterest = openInterestOf(instrument, contract, reference);
    const volume = Math.floor(session * turnover(instrument, contract, today) * openInterest);
    const tick = tickOf(instrument, price);
    const last = volume > 0 ? Math.max(1, Math.round(price / tick)) * tick : Number.NaN;
    const { term, callPut, strike } = contract;
    const identity = { root: instrument.root, expiry: term.expiry, callPut, strike, multiplier: 100 };
    return { ...identity, bid, ask, last, volume, openInterest, iv, delta, gamma };
  });
  const spot = spotAt(instrument, asOf);
  return buildChain({ underlying: instrument.ticker, asOf, spot, source: 'simulated', simulated: true }, rows);
}

/**
 * Returns the open interest of a contract. Calls have most open interest above the price and puts below the price, mostly at round strikes
 * and on third Fridays. Each contract has a random factor, which stays the same until the contract expires. Open interest does not change
 * during the day, because it is published once a day.
 */
function openInterestOf(instrument: Instrument, { term, callPut, strike }: Contract, reference: number): number {
  const distance = (callPut * Math.log(strike / reference)) / term.width;
  const place = distance < 0 ? Math.exp(1.5 * distance) : Math.exp(-0.5 * (distance - 0.5) ** 2);
  const maturity = term.isMonthly ? 1 / (1 + term.days / 250) : 0.3 / (1 + term.days / 14);
  const liking = Math.exp(2.5 * (chanceOf(instrument, 3, term.settlesAt, callPut, strike) - 0.7));
  const puts = callPut === -1 ? 1 + Math.max(0, -instrument.skew) : 1;
  return Math.floor(instrument.depth * place * maturity * roundness(strike, reference) * puts * liking);
}

/**
 * Returns the factor by which the roundness of a strike changes its open interest. Round strikes have more open interest. Which strikes are
 * round depends on the price.
 */
function roundness(strike: number, price: number): number {
  const unit = 10 ** Math.floor(Math.log10(price) - 1);
  if (Number.isInteger(strike / (10 * unit))) return 4;
  if (Number.isInteger(strike / (5 * unit))) return 2;
  return Number.isInteger(strike / unit) ? 0.8 : 0.35;
}

/** Returns the share of a contract's open interest that is traded in a day. The share is highest near the expiry. */
function turnover(instrument: Instrument, { term, callPut, strike }: Contract, today: number): number {
  return chanceOf(instrument, today, term.settlesAt, callPut, strike) ** 3 * (0.1 + 3 / (1 + term.days));
}

/** Returns a random number of a contract, in (0, 1), for one purpose. */
function chanceOf({ key }: Instrument, purpose: number, settlesAt: number, callPut: number, strike: number): number {
  return uniform(key, purpose, settlesAt / 60_000, callPut * Math.round(strike * 1000));
}

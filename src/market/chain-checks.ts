import { ClientError } from '../core/errors.ts';
import type { Chain } from './chain.ts';

type Counts = Readonly<Record<string, number>>;

/** The largest share of rows with a fault. Fewer rows than FAULTY_MIN are never too many. */
const [FAULTY_SHARE_MAX, FAULTY_MIN] = [0.1, 10];
/** The reasons of rows that could not be read. Other rejected rows could be read. */
const UNREADABLE = ['malformed_row', 'bad_symbol', 'bad_contract', 'bad_as_of'];
/** Open interest is a whole number. Some fractions show that the separator of thousands was read as a decimal point. */
const FRACTIONS_MAX = 2;
/** The least number of quotes with a bid above the ask in a chain whose columns are swapped. A vendor's small chain may have some on a bad day. */
const CROSSED_MIN = 50;
/** The least number of steps that must rise, and their share, so that calls and puts are swapped. Of real chains, up to a tenth rises. */
const [RISING_MIN, RISING_SHARE_MIN] = [10, 2 / 3];

/** Returns whether `faulty` of `total` rows are too many for a chain. Levels of the rest would look like levels of the chain. */
export function isTooMany(faulty: number, total: number): boolean {
  return faulty >= FAULTY_MIN && faulty > FAULTY_SHARE_MAX * total;
}

/**
 * Throws a `ClientError` if too many rows of a chain could not be read. `readable` is the number of the other rows, and `elsewhere` that of the
 * unreadable rows of other underlyings.
 */
export function assertReadable(refused: Counts, readable: number, elsewhere = 0): void {
  const unreadable = UNREADABLE.reduce((sum, reason) => sum + (refused[reason] ?? 0), -elsewhere);
  if (isTooMany(unreadable, unreadable + readable))
    throw unprocessable(`${unreadable} of ${unreadable + readable} rows cannot be read`, refused);
}

/** Throws a `ClientError` if the open interest of too many contracts is impossible. */
export function assertOpenInterest(openInterest: Float64Array, bad: number, refused: Counts): void {
  if (isTooMany(bad, openInterest.length))
    throw unprocessable(`the open interest of ${bad} of ${openInterest.length} contracts cannot be read`, refused);
}

/** Throws a `ClientError` if the open interest of some contracts is a fraction, as if the separator of thousands was a decimal point. */
export function assertWholeNumbers(openInterest: readonly number[]): void {
  const fractions = openInterest.filter((value) => value % 1 > 0);
  if (fractions.length <= FRACTIONS_MAX) return;
  throw unprocessable(
    `the open interest of ${fractions.length} of ${openInterest.length} contracts is a fraction, such as ${fractions[0]}. Write it without separators of thousands`,
  );
}

/** Throws a `ClientError` if too many cells of a column of quotes have a text that is not a number. */
export function assertNumbers(name: string, bad: number, total: number, refused: Counts): void {
  if (isTooMany(bad, total))
    throw unprocessable(`the ${name} of ${bad} of ${total} contracts is not a number`, refused);
}

/** Throws a `ClientError` if too many rows repeat a contract with other quotes or another open interest. */
export function assertConsistent(contradicting: number, rows: number): void {
  if (!isTooMany(contradicting, rows)) return;
  throw unprocessable(
    `${contradicting} of ${rows} rows repeat a contract with other quotes or another open interest: the rows are of two chains, or a column is not what it is read as`,
  );
}

/** Throws a `ClientError` if most quotes have a bid above the ask. */
function assertUncrossed({ bid, ask, count }: Pick<Chain, 'bid' | 'ask' | 'count'>): void {
  let [crossed, quoted] = [0, 0];
  for (let row = 0; row < count; row++) {
    if (!(bid[row]! > 0 && ask[row]! > 0)) continue;
    quoted++;
    crossed += Number(bid[row]! > ask[row]!);
  }
  if (crossed >= CROSSED_MIN && crossed > quoted / 2)
    throw unprocessable(`bid and ask are swapped: the bid of ${crossed} of ${quoted} quotes is above the ask`);
}

/**
 * Throws a `ClientError` if bid and ask are swapped, or calls and puts. From one strike of an expiry to the next, the price of the call minus that
 * of the put falls by the difference of the strikes. Only strikes whose call and put both have a bid and an ask count, and far from spot their
 * spreads hide the difference.
 */
export function assertQuotes(chain: Omit<Chain, 'refused'>): void {
  assertUncrossed(chain);
  const { series, strike, callPut, bid, ask } = chain;
  const mid = (row: number) => (bid[row]! > 0 && ask[row]! >= bid[row]! ? (bid[row]! + ask[row]!) / 2 : Number.NaN);
  let rising = 0;
  let falling = 0;
  for (const { start, end } of series) {
    let before = Number.NaN;
    for (let row = start; row + 1 < end; row++) {
      if (strike[row] !== strike[row + 1] || callPut[row] !== 1) continue;
      const gap = mid(row) - mid(row + 1);
      if (gap > before) rising++;
      else if (gap < before) falling++;
      if (!Number.isNaN(gap)) before = gap;
    }
  }
  if (rising < RISING_MIN || rising < RISING_SHARE_MIN * (rising + falling)) return;
  throw unprocessable(
    `calls and puts are swapped: at ${rising} of ${rising + falling} strikes, the call minus the put costs more than at the strike below`,
  );
}

/** Returns the `ClientError` for a chain that cannot be built, with the counts of rejected rows. */
export function unprocessable(reason: string, refused: Counts = {}): ClientError {
  const counts = Object.entries(refused).map(([why, rows]) => `${rows} ${why}`);
  return new ClientError('unprocessable', counts.length === 0 ? reason : `${reason} (${counts.join(', ')})`);
}

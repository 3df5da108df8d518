import { ClientError } from '../core/errors.ts';
import type { Chain } from './chain.ts';

type Counts = Readonly<Record<string, number>>;

/** The largest share of rows with a fault. Fewer rows than FAULTY_MIN are never too many. */
const [FAULTY_SHARE_MAX, FAULTY_MIN] = [0.1, 10];
/** The reasons of rows that could not be read. Other rejected rows could be read. */
const UNREADABLE = ['malformed_row', 'bad_symbol', 'bad_contract', 'bad_as_of'];
/** Open interest is a whole number. Some fractions show that the separator of thousands was read as a decimal point. */
const FRACTIONS_MAX = 2;
/** The least number of steps that must rise, and their share, so that calls and puts are swapped. Of real chains, up to a tenth rises. */
const [RISING_MIN, RISING_SHARE_MIN] = [10, 2 / 3];

/** Returns whether `faulty` of `total` rows are too many for a chain. Levels of the rest would look like levels of the chain. */
export function isTooMany(faulty: number, total: number): boolean {
  return faulty >= FAULTY_MIN && faulty > FAULTY_SHARE_MAX * total;
}

/** Throws a `ClientError` if too many rows of a chain could not be read. `readable` is the number of the other rows. */
export function assertReadable(refused: Counts, readable: number): void {
  const unreadable = UNREADABLE.reduce((sum, reason) => sum + (refused[reason] ?? 0), 0);
  if (isTooMany(unreadable, unreadable + readable))
    throw unprocessable(`${unreadable} of ${unreadable + readable} rows cannot be read`, refused);
}

/** Throws a `ClientError` if the open interest of `bad` contracts is impossible, or that of some contracts is a fraction. */
export function assertOpenInterest(openInterest: Float64Array, bad: number, refused: Counts): void {
  if (isTooMany(bad, openInterest.length))
    throw unprocessable(`the open interest of ${bad} of ${openInterest.length} contracts cannot be read`, refused);
  const isFraction = (value: number) => value % 1 > 0;
  const fractions = openInterest.reduce((sum, value) => sum + Number(isFraction(value)), 0);
  if (fractions > FRACTIONS_MAX) {
    throw unprocessable(
      `the open interest of ${fractions} of ${openInterest.length} contracts is a fraction, such as ${openInterest.find(isFraction)}. Write it without separators of thousands`,
    );
  }
}

/** Throws a `ClientError` if too many rows repeat a contract with other quotes or another open interest. */
export function assertConsistent(contradicting: number, rows: number): void {
  if (!isTooMany(contradicting, rows)) return;
  throw unprocessable(
    `${contradicting} of ${rows} rows repeat a contract with other quotes or another open interest: the rows are of two chains, or a column is not what it is read as`,
  );
}

/**
 * Throws a `ClientError` if calls and puts are swapped. Within an expiry, the price of the call minus that of the put falls by the difference
 * of two strikes. Only strikes whose call and put both have a bid and an ask count, and far from spot their spreads hide the difference.
 */
export function assertSides({ series, strike, callPut, bid, ask }: Omit<Chain, 'refused'>): void {
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

import { addDays, closeOf, isTradingDay, newYorkDate, newYorkInstant, openOf } from '../market/calendar.ts';
import type { Prints } from '../market/feed.ts';
import { PrintBatch } from '../market/print-batch.ts';

/** Options of some funds and indices trade until a quarter of an hour after the close. */
const AFTER_CLOSE_MS = 15 * 60_000;
/** The largest usual share of a tape's prints outside the session. Sessions before the open have few prints. */
const OUTSIDE_SHARE_MAX = 0.05;
/** A tape with fewer prints may be of any time. */
const PRINTS_MIN = 20;

/** Counts the prints of a tape outside the New York session. Many of them show that the zone of the tape's times is wrong. */
export class SessionShare {
  #prints = 0;
  #outside = 0;
  /** The last day that a print had, and its session, ms since the epoch. */
  #day = { from: 0, to: 0, open: 0, close: 0 };

  add(prints: Prints): void {
    if (prints.length === 0) return;
    const { at, length } = PrintBatch.of(prints);
    this.#prints += length;
    for (let i = 0; i < length; i++) if (this.#isOutside(at[i]!)) this.#outside++;
  }

  copy(): SessionShare {
    const copy = new SessionShare();
    copy.#prints = this.#prints;
    copy.#outside = this.#outside;
    return copy;
  }

  /** Returns what to check if more than 5 % of the prints are outside the session. */
  warning(): string | undefined {
    if (this.#prints < PRINTS_MIN || this.#outside <= OUTSIDE_SHARE_MAX * this.#prints) return undefined;
    const share = Math.round((100 * this.#outside) / this.#prints);
    return `${share} % of the prints are outside the New York session: is the zone of the times right? See --zone`;
  }

  #isOutside(ms: number): boolean {
    if (ms < this.#day.from || ms >= this.#day.to) this.#day = dayOf(ms);
    return ms < this.#day.open || ms > this.#day.close;
  }
}

/** Returns the New York day of an instant, with an empty session on a day without trading. */
function dayOf(ms: number) {
  const date = newYorkDate(ms);
  const [from, to] = [date, addDays(date, 1)].map((each) => newYorkInstant(each, '00:00')) as [number, number];
  if (!isTradingDay(date)) return { from, to, open: to, close: from };
  return { from, to, open: openOf(date), close: closeOf(date) + AFTER_CLOSE_MS };
}

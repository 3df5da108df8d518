import { DAY_MS } from '../../market/calendar.ts';
import type { Delivery, Feed } from '../../market/feed.ts';
import type { Close } from '../../market/prints.ts';
import { MINUTE_MS, newestSimulated } from '../../market/simulated-past.ts';
import { type Instrument, instrumentsOf, type SimulationOptions } from './instruments.ts';
import { closedDays, closeOn, sharesOn } from './price-path.ts';
import { simulatedChain } from './simulated-chain.ts';
import { simulatedPrintsIn } from './simulated-prints.ts';

/**
 * Creates the feed of a simulated market, with which people can try the service. All deliveries are marked as simulated. The quotes are
 * those of the present minute, or with the clock `real` of the last close. The first poll delivers a month of prints and a year of closes,
 * and each further one the new data. The market depends only on the options and the time, and the only state is the time of the last delivery.
 */
export function createSimulatedFeed(options: SimulationOptions): Feed {
  const instruments = instrumentsOf(options);
  let deliveredUpTo: number | undefined;

  async function* poll(nowMs: number): AsyncGenerator<Delivery> {
    const asOf = newestSimulated(nowMs, options.clock);
    const since = deliveredUpTo;
    if (since !== undefined && asOf <= since) return;
    const lastClosed = since === undefined ? '' : (closedDays(since, 1)[0] ?? '');
    const closed = closedDays(asOf, CLOSE_DAYS).filter((date) => date > lastClosed);
    const printsAfter = Math.max(since ?? 0, asOf - PRINT_DAYS * DAY_MS);
    for (const instrument of instruments) {
      const closes = closed.map((date) => closeOf(instrument, date));
      if (closes.length > 0) yield { kind: 'closes', closes };
      const prints = simulatedPrintsIn(instrument, printsAfter, asOf);
      if (prints.length > 0) yield { kind: 'prints', prints };
      yield { kind: 'chain', chain: simulatedChain(instrument, asOf) };
    }
    deliveredUpTo = asOf;
  }

  const pace = { everyMs: POLL_INTERVAL_MS, hours: 'always', delayMs: 0 } as const;
  return { name: 'simulated', simulated: true, pace, tickers: instruments.map(({ ticker }) => ticker), poll };
}

const POLL_INTERVAL_MS = MINUTE_MS;
/** Number of trading days whose closes the first poll delivers: a year. */
export const CLOSE_DAYS = 252;
/** Number of calendar days whose prints the first poll delivers. The flow figures use the prints of `PRINT_DAYS` days. */
export const PRINT_DAYS = 30;

function closeOf(instrument: Instrument, date: string): Close {
  const [close, volume] = [closeOn(instrument, date), sharesOn(instrument, date)];
  return { ticker: instrument.ticker, date, close, volume, simulated: true };
}

import type { Print } from '../market/prints.ts';

/** A print with the side that started it. */
export interface SignedPrint {
  readonly print: Print;
  /** +1 where a customer bought, -1 where a customer sold, 0 where nothing tells. */
  readonly aggressor: 1 | -1 | 0;
  readonly by: SideRule;
}

/** What told the side. */
export type SideRule = 'feed' | 'quote' | 'tick' | 'unknown';

/** Prices as far apart as a double's rounding are the same price. */
const SAME = 1e-9;

/**
 * Signs prints (in time order) by the first that tells: the feed; the quote they met, since who pays more than its middle bought
 * and who takes less sold; the last different price of the same contract, a rise being a purchase (Lee and Ready 1991). For
 * options the quote rule is the best of the simple ones (Savickas and Wilson 2003). The aggressor is taken to be the customer.
 */
export function signPrints(prints: readonly Print[]): SignedPrint[] {
  const ticks = new Map<string, Tick>();
  return prints.map((print) => {
    const tick = nextTick(ticks, print);
    if (print.side === 'ask') return { print, aggressor: 1, by: 'feed' };
    if (print.side === 'bid') return { print, aggressor: -1, by: 'feed' };
    const quoted = besideMiddle(print);
    if (quoted !== 0) return { print, aggressor: quoted, by: 'quote' };
    return { print, aggressor: tick, by: tick === 0 ? 'unknown' : 'tick' };
  });
}

/** A contract's last price, and which way it came to it. */
interface Tick {
  price: number;
  direction: 1 | -1 | 0;
}

function nextTick(ticks: Map<string, Tick>, print: Print): 1 | -1 | 0 {
  const key = contractKey(print);
  const last = ticks.get(key);
  if (last === undefined) {
    ticks.set(key, { price: print.price, direction: 0 });
    return 0;
  }
  const change = print.price - last.price;
  if (Math.abs(change) > SAME * last.price) {
    last.direction = change > 0 ? 1 : -1;
    last.price = print.price;
  }
  return last.direction;
}

/** +1 above the middle of the quote, -1 below it, 0 at it or where there is no quote that could have been met. */
function besideMiddle({ price, bid, ask }: Print): 1 | -1 | 0 {
  if (bid === null || ask === null || !(ask > bid)) return 0;
  const beside = price - (bid + ask) / 2;
  if (Math.abs(beside) <= SAME * ask) return 0;
  return beside > 0 ? 1 : -1;
}

/** Tells contracts of one underlying apart. */
export function contractKey({
  root,
  expiry,
  callPut,
  strike,
}: Pick<Print, 'root' | 'expiry' | 'strike'> & { callPut: number }): string {
  return `${root} ${expiry} ${callPut} ${strike}`;
}

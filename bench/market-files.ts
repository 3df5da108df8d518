import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newYorkDate } from '../src/market/calendar.ts';
import { greeks } from '../src/math/black-scholes.ts';

/** A name of an artificial market, with its contracts. */
export interface Listed {
  readonly ticker: string;
  readonly spot: number;
  readonly callPut: Float64Array;
  readonly strike: Float64Array;
  readonly tte: Float64Array;
  readonly iv: Float64Array;
  /** The cells of each contract that do not change: symbol, expiry, side and strike; then those after the quotes. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

const DAY_MS = 86_400_000;
const HEADER = 'underlying,as_of,spot,symbol,expiry,put_call,strike,bid,ask,last,volume,open_interest,iv,delta,gamma\n';

/** Returns an artificial market. Each name has a call and a put at `strikes` strikes of each of `expiries` weekly expiries. */
export function listMarket(names: number, at: number, expiries: number, strikes: (name: number) => number): Listed[] {
  return Array.from({ length: names }, (_, name) => {
    const ticker = Array.from({ length: 4 }, (_, i) =>
      String.fromCharCode(65 + (Math.floor(name / 26 ** (3 - i)) % 26)),
    ).join('');
    const spot = 20 + ((name * 7) % 480);
    const step = Math.max(0.05, Math.round((12 * spot) / strikes(name)) / 20);
    const [callPut, strike, tte, iv, before, after]: [number[], number[], number[], number[], string[], string[]] = [
      [],
      [],
      [],
      [],
      [],
      [],
    ];
    for (let week = 1; week <= expiries; week++) {
      const friday = at + ((5 - new Date(at).getUTCDay() + 7) % 7) * DAY_MS + 7 * (week - 1) * DAY_MS + DAY_MS;
      const expiry = newYorkDate(friday);
      for (let i = 0; i < strikes(name); i++) {
        const price = Math.max(0.05, step * (Math.round(spot / step) + i - (strikes(name) >> 1)));
        if (price === strike.at(-1)) continue;
        for (const side of [1, -1]) {
          const smile =
            0.25 + 0.1 * ((name % 10) / 10) + 0.3 * Math.log(price / spot) ** 2 - 0.1 * Math.log(price / spot);
          const letter = side === 1 ? 'C' : 'P';
          const symbol = `${ticker}${expiry.slice(2).replaceAll('-', '')}${letter}${String(Math.round(1_000 * price)).padStart(8, '0')}`;
          callPut.push(side);
          strike.push(price);
          tte.push((friday - at) / (365 * DAY_MS));
          iv.push(smile);
          before.push(`${symbol},${expiry},${letter},${price}`);
          after.push(
            `${(i * 37 + week * 11 + name) % 900},${100 + ((i * i * 37 + week * 11 + name) % 5_000)},${smile.toFixed(4)},,`,
          );
        }
      }
    }
    const column = (values: readonly number[]) => Float64Array.from(values);
    return {
      ticker,
      spot,
      before,
      after,
      callPut: column(callPut),
      strike: column(strike),
      tte: column(tte),
      iv: column(iv),
    };
  });
}

/** Writes a file with a name's quotes of a minute to the drop folder. Spot has moved since the minute before, and all quotes with it. */
export function dropQuotes(
  folder: string,
  drop: string,
  { ticker, spot, callPut, strike, tte, iv, before, after }: Listed,
  minute: number,
  asOf: number,
): void {
  const moved = spot * (1 + 0.002 * Math.sin(minute + spot));
  const filled = (value: number) => new Float64Array(strike.length).fill(value);
  const { price } = greeks({
    count: strike.length,
    callPut,
    spot: filled(moved),
    strike,
    tte,
    iv,
    rate: filled(0.04),
    dividend: filled(0),
  });
  const head = `${ticker},${new Date(asOf).toISOString()},${moved.toFixed(4)},`;
  let text = HEADER;
  for (let row = 0; row < strike.length; row++) {
    const fair = price[row]!;
    const half = 0.01 + 0.01 * fair;
    text += `${head}${before[row]},${Math.max(0, fair - half).toFixed(2)},${(fair + half).toFixed(2)},${fair.toFixed(2)},${after[row]}\n`;
  }
  const name = `${ticker}.csv`;
  writeFileSync(join(folder, name), text);
  renameSync(join(folder, name), join(drop, name));
}

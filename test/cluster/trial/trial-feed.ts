import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const TICKERS = ['SPY', 'QQQ', 'NVDA'];

/** What the drop folder has got. */
export interface Written {
  /** The prices of the underlyings by `TICKER as_of`, with the time of the file, ms of `performance.now()`. */
  readonly spots: ReadonlyMap<string, number>;
  readonly prints: ReadonlySet<string>;
  stop(): Promise<void>;
}

const EVERY_MS = 1_000;
/** Of this many snapshots, one comes late and one twice. */
const LATE_EVERY = 7;
const TWICE_EVERY = 5;
const DAY_MS = 86_400_000;

/**
 * Writes a snapshot and a print of each ticker each second, until `stop`. Some snapshots come after newer ones, and some twice. Each has a
 * price of its own.
 */
export function writeDrops(folder: string): Written {
  const spots = new Map<string, number>();
  const prints = new Set<string>();
  const aside = `${folder}-being-written`;
  let round = 0;
  let late: (() => void) | undefined;
  const put = (name: string, text: string): void => {
    // A reader never sees a part of a file.
    writeFileSync(aside, text);
    renameSync(aside, join(folder, name));
  };
  for (const ticker of TICKERS) put(`${ticker}-tape.csv`, 'executed_at,option_chain_id,price,size,side,id\n');
  const writeRound = (): void => {
    const nowMs = Date.now();
    const n = round++;
    // The late ones of the last round are older than those of this round.
    const [due, isLate] = [late, n % LATE_EVERY === 0];
    const waiting: (() => void)[] = [];
    late = undefined;
    TICKERS.forEach((ticker, i) => {
      const asOf = nowMs - (nowMs % 10) + i;
      const spot = 95 + (n % 1_000) / 100;
      const number = String(n).padStart(5, '0');
      const write = () => {
        spots.set(`${ticker} ${asOf}`, spot);
        const text = chainText(ticker, asOf, spot);
        put(`${number}-${ticker}.csv`, text);
        if (n % TWICE_EVERY === 0) put(`${number}-${ticker}-again.csv`, text);
      };
      if (isLate) waiting.push(write);
      else write();
      const id = `${ticker}-${n}`;
      prints.add(id);
      const row = [
        new Date(nowMs).toISOString(),
        `${ticker}${code(expiryOf(nowMs))}C00100000`,
        1 + n / 100,
        3,
        'ask',
        id,
      ];
      appendFileSync(join(folder, `${ticker}-tape.csv`), `${row}\n`);
    });
    if (waiting.length > 0)
      late = () => {
        for (const each of waiting) each();
      };
    due?.();
  };
  writeRound();
  const timer = setInterval(writeRound, EVERY_MS);
  return {
    spots,
    prints,
    async stop() {
      clearInterval(timer);
      late?.();
    },
  };
}

function expiryOf(nowMs: number): string {
  return new Date(nowMs + 30 * DAY_MS).toISOString().slice(0, 10);
}

function code(day: string): string {
  return day.slice(2).replaceAll('-', '');
}

function chainText(ticker: string, asOf: number, spot: number): string {
  const rows = ['underlying,as_of,spot,symbol,expiry,put_call,strike,bid,ask,last,volume,open_interest,iv,delta,gamma'];
  for (let strike = 90; strike <= 110; strike += 2.5) {
    for (const side of ['C', 'P']) {
      const heaped = (side === 'C' && strike === 105) || (side === 'P' && strike === 95);
      const contract = [ticker, new Date(asOf).toISOString(), spot, '', expiryOf(asOf), side, strike];
      rows.push([...contract, '', '', '', 10, heaped ? 5000 : 100, 0.25, '', ''].join(','));
    }
  }
  return `${rows.join('\n')}\n`;
}

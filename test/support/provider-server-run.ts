import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runToCompletion } from '../../src/core/steps.ts';
import { readMarketFile } from '../../src/feeds/files/read-market-file.ts';
import { instrumentsOf } from '../../src/feeds/simulated/instruments.ts';
import { simulatedChain } from '../../src/feeds/simulated/simulated-chain.ts';
import { closeOf, isTradingDay, lastQuoted } from '../../src/market/calendar.ts';
import type { Chain } from '../../src/market/chain.ts';
import { STANDARD_UNIVERSE } from '../../src/market/universe.ts';
import { rowsOf } from './provider-answers.ts';
import { startProviderServer } from './provider-server.ts';

const USAGE = `bun test/support/provider-server.ts [--port N] [--chains DIR] [--from ISO] [--trades N]

Stands in for the feeds cboe, tradier, massive and thetadata, with any token or key, until it is ended.
  --port    of the HTTP part, the next one for the socket; 0 takes free ones
  --chains  folder of chain files, in any format of the drop folder; without one the market is simulated
  --from    moment at which the simulated market begins, going on from there; without it the present
  --trades  trades a second on the socket, of any contract at its middle price (5)`;

/** The test provider as a separate program. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      port: { type: 'string', default: '0' },
      chains: { type: 'string' },
      from: { type: 'string' },
      trades: { type: 'string', default: '5' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return console.log(USAGE);
  const aheadMs = values.from === undefined ? 0 : Date.parse(values.from) - Date.now();
  const market =
    values.chains === undefined ? simulatedMarket(() => Date.now() + aheadMs) : recordedMarket(values.chains);
  const server = await startProviderServer({ chainOf: market.chainOf, port: Number(values.port) });
  setInterval(() => server.trade(tradesOf(market, Number(values.trades))), 1_000);
  console.log(`--cboe-url ${server.url} --tradier-url ${server.url} --massive-url ${server.url}`);
  console.log(`--massive-socket-url ${server.socketUrl} --thetadata-url ${server.url}`);
}

interface StandInMarket {
  readonly tickers: readonly string[];
  chainOf(ticker: string, day?: string): Chain | undefined;
}

/** The standard universe. Each chain is made once per minute. A past day has the chain of its close, if it is a trading day. */
export function simulatedMarket(nowMs: () => number): StandInMarket {
  const instruments = new Map(
    instrumentsOf({ seed: 1, universe: STANDARD_UNIVERSE, clock: 'real' }).map((each) => [each.ticker, each]),
  );
  const made = new Map<string, Chain>();
  return {
    tickers: [...instruments.keys()],
    chainOf(ticker, day) {
      const [instrument, asOf] = [instruments.get(ticker), lastQuoted(nowMs())];
      if (instrument === undefined) return undefined;
      if (day !== undefined) return isTradingDay(day) ? simulatedChain(instrument, closeOf(day)) : undefined;
      if (made.get(ticker)?.asOf !== asOf) made.set(ticker, simulatedChain(instrument, asOf));
      return made.get(ticker);
    },
  };
}

/** The chain files of a folder: the last file of each ticker. */
export function recordedMarket(dir: string): StandInMarket {
  const chains = new Map<string, Chain>();
  for (const origin of readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!/\.(?:csv|json)$/.test(origin)) continue;
    for (const delivery of runToCompletion(readMarketFile(readFileSync(join(dir, origin)), { origin }))) {
      if (delivery.kind === 'chain') chains.set(delivery.chain.underlying, delivery.chain);
    }
  }
  return { tickers: [...chains.keys()], chainOf: (ticker) => chains.get(ticker) };
}

let sequence = 0;

function tradesOf({ tickers, chainOf }: StandInMarket, count: number): unknown[] {
  return Array.from({ length: count }, () => {
    const rows = rowsOf(chainOf(tickers[Math.floor(Math.random() * tickers.length)]!)!);
    const { symbol, bid, ask } = rows[Math.floor(Math.random() * rows.length)]!;
    const price = Math.max(0.01, Math.round(((bid ?? 0) + (ask ?? 0)) * 50) / 100);
    const size = 1 + Math.floor(Math.random() * 200);
    return { ev: 'T', sym: `O:${symbol}`, x: 300, p: price, s: size, c: [209], t: Date.now(), q: ++sequence };
  });
}

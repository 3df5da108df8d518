import { isRecord, type JsonRecord } from '../../core/json-shape.ts';
import { DAY_MS } from '../../market/calendar.ts';
import { parseOptionSymbol } from '../../market/option-symbol.ts';
import type { Print } from '../../market/prints.ts';
import { AFTER_EXPIRY_MS_MAX, PRICE_MAX, SIZE_MAX } from '../print-bounds.ts';
import { CONDITIONS } from '../print-execution.ts';
import { countRejected } from '../rejections.ts';
import { instantMs } from './instant.ts';

/**
 * Returns the prints of `tickers` in the messages of one WebSocket frame. Counts each rejected trade in `refused`, by reason. Ignores
 * messages that are not trades, and ignores trades of other tickers.
 */
export function printsOfTrades(
  messages: readonly unknown[],
  tickers: ReadonlySet<string>,
  nowMs: number,
  refused: Record<string, number>,
): Print[] {
  const prints: Print[] = [];
  for (const message of messages) {
    if (!isRecord(message) || message.ev !== 'T') continue;
    const symbol = typeof message.sym === 'string' ? parseOptionSymbol(message.sym) : undefined;
    if (symbol === undefined) countRejected(refused, 'bad_symbol');
    else if (tickers.has(symbol.underlying)) {
      const trade = tradeOf(message, Date.parse(symbol.expiry), nowMs);
      if (typeof trade === 'string') countRejected(refused, trade);
      else {
        const { root, underlying, expiry, callPut, strike } = symbol;
        prints.push({ underlying, root, expiry, callPut, strike, ...trade });
      }
    }
  }
  return prints;
}

/**
 * Returns the values of a trade, without its contract. If the trade is rejected, returns the reason as text. The bounds of price, size and
 * time after expiry apply to all prints (see `print-bounds.ts`).
 */
function tradeOf(message: JsonRecord, expiryMs: number, nowMs: number) {
  const { sym, x, p: price, s: size, c, q } = message;
  const at = instantMs(message.t);
  if (!(at > nowMs - AGE_MS_MAX && at < nowMs + DAY_MS)) return 'bad_time';
  if (at - expiryMs > AFTER_EXPIRY_MS_MAX) return 'expired';
  if (typeof price !== 'number' || !(price > 0 && price <= PRICE_MAX)) return 'bad_price';
  if (typeof size !== 'number' || !(Number.isInteger(size) && size > 0 && size <= SIZE_MAX)) return 'bad_size';
  const execution = { multiLeg: false, sweep: false, block: false, canceled: false };
  for (const code of Array.isArray(c) ? c : []) {
    Object.assign(execution, CONDITIONS.get(OPRA_CONDITIONS.get(code) ?? ''));
  }
  return {
    // Ids begin with the time, so the store adds new ids at the end of its index. If Massive repeats a trade after a reconnect, the trade
    // gets the same id.
    id: `${at.toString(36)}-${Bun.hash.xxHash64(`${sym} ${q} ${x} ${price} ${size}`).toString(36)}`,
    at,
    price,
    size,
    multiplier: 100,
    side: null,
    bid: null,
    ask: null,
    delta: null,
    ...execution,
    simulated: false,
  } as const;
}

/**
 * Maximum age of a trade, ms. The socket sends today's trades, so a trade older than a week is damaged data. A trade may be up to a day
 * ahead of this machine's clock, because the clock may be wrong.
 */
const AGE_MS_MAX = 7 * DAY_MS;

/**
 * Maps the number of a sale condition to OPRA's four-letter code. The numbers are from Massive's glossary of option trade conditions
 * (`/v3/reference/conditions?asset_class=options`). A number that is not in this table has no effect on a print.
 */
export const OPRA_CONDITIONS: ReadonlyMap<unknown, string> = new Map([
  ...numbered(201, 'canc oseq cncl late cnco open cnol opnl auto reop'),
  ...numbered(219, 'isoi'),
  ...numbered(227, 'slan slai slcn slci slft mlet mlat mlct mlft mesl tlat masl mfsl tlet tlct tlft tesl tasl tfsl'),
  ...numbered(246, 'cbmo mctp exht'),
]);

/** Gives successive numbers to conditions, starting with `from`. */
function numbered(from: number, conditions: string): [number, string][] {
  return conditions.split(' ').map((condition, i) => [from + i, condition]);
}

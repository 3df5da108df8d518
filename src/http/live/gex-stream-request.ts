import { Type } from '@sinclair/typebox';
import type { Account } from '../../access/access.ts';
import { Failure } from '../../errors.ts';
import type { Market } from '../../market/market.ts';
import { ticker } from '../../operations/schemas.ts';
import { validate } from '../../operations/validate.ts';

/** What a client asks to follow. */
export interface GexStreamRequest {
  readonly account: Account;
  readonly headers: Headers;
  /** As the path has them, joined by commas. */
  readonly tickers: string;
  readonly query: URLSearchParams;
  /** Address and port of the client, where the connection is known. */
  readonly peer?: string | undefined;
}

/** As many as a universe may have. */
const TICKERS_MAX = 1_000;

/** The tickers of a request, each once, under their names. Throws `Failure`, 400, for one that is not tracked. */
export function tickersOf({ tickers }: GexStreamRequest, market: Pick<Market, 'tracked'>): ReadonlySet<string> {
  const given = [...new Set(tickers.split(','))];
  if (given.length > TICKERS_MAX) {
    throw refusal('Too many tickers', '/ticker', `must be at most ${TICKERS_MAX} tickers`);
  }
  return new Set(
    given.map((each) => {
      validate(ONE_TICKER, { ticker: each }, 'invalid_parameter');
      return market.tracked(each);
    }),
  );
}

const ONE_TICKER = Type.Object({ ticker });

/** The place that a client has everything up to; undefined where it names none. Throws `Failure`, 400, for what is none. */
export function placeOf({ headers, query }: GexStreamRequest): number | undefined {
  const text = headers.get('last-event-id') ?? query.get('last_event_id');
  if (text === null) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw refusal(
    'Last-Event-ID is not the id of an event',
    '/last_event_id',
    'must be the id of an event: a whole number',
  );
}

function refusal(message: string, field: string, expected: string): Failure {
  return new Failure('invalid_parameter', message, {
    hint: 'GET /api/v1/stream/gex/SPY,QQQ, with Last-Event-ID: 123 to take up where event 123 was the last.',
    faults: [{ field, expected }],
  });
}

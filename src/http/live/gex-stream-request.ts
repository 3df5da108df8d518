import { Type } from '@sinclair/typebox';
import type { Account } from '../../access/access.ts';
import { ClientError } from '../../core/errors.ts';
import type { Market } from '../../market/market.ts';
import { ticker } from '../../operations/engine/shared-fields.ts';
import { validate } from '../../operations/engine/validate.ts';

export interface GexStreamRequest {
  readonly account: Account;
  readonly headers: Headers;
  /** The requested tickers, as in the path: separated by commas. The router gives null if the path has a malformed percent escape. */
  readonly tickers: string | null;
  readonly query: URLSearchParams;
  /** The client's address and port. Undefined if the connection is not known. */
  readonly peer?: string | undefined;
}

/** Maximum number of tickers in a stream, equal to the maximum of a universe. */
const TICKERS_MAX = 1_000;

/** Returns the tickers of a request once each. Throws `ClientError` (400) if there are too many, or one is malformed or not tracked. */
export function tickersOf({ tickers }: GexStreamRequest, market: Pick<Market, 'tracked'>): ReadonlySet<string> {
  const given = [...new Set(tickers?.split(',') ?? [''])];
  if (given.length > TICKERS_MAX) {
    throw invalidParameter('Too many tickers', '/ticker', `must be at most ${TICKERS_MAX} tickers`);
  }
  return new Set(
    given.map((each) => {
      validate(ONE_TICKER, { ticker: each }, 'invalid_parameter');
      return market.tracked(each);
    }),
  );
}

const ONE_TICKER = Type.Object({ ticker });

/** Returns the sequence number up to which the client has all events, or undefined. Throws `ClientError` (400) if it is malformed. */
export function lastEventIdOf({ headers, query }: GexStreamRequest): number | undefined {
  const text = headers.get('last-event-id') ?? query.get('last_event_id');
  if (text === null) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalidParameter(
    'Last-Event-ID is not the id of an event',
    '/last_event_id',
    'must be the id of an event: a whole number',
  );
}

function invalidParameter(message: string, field: string, expected: string): ClientError {
  return new ClientError('invalid_parameter', message, {
    hint: 'Send GET /api/v1/stream/gex/SPY,QQQ, with the header Last-Event-ID: 123 to resume after event 123.',
    fieldErrors: [{ field, expected }],
  });
}

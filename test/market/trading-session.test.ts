import { expect, test } from 'bun:test';
import { type TradingSession, tradingSession } from '../../src/market/trading-session.ts';

/** Instants and sessions as New York's clocks show them, with the offset from UTC. All sessions open at 09:30, and a half day closes at 13:00. */
const SESSIONS: readonly (readonly [name: string, now: string, reason: TradingSession['reason'], closes: string])[] = [
  ['a weekday, at noon', '2026-11-18T12:00:00-05:00', null, '2026-11-18T16:00-05:00'],
  ['at the open', '2026-11-18T09:30:00-05:00', null, '2026-11-18T16:00-05:00'],
  ['just before it', '2026-11-18T09:29:59.999-05:00', 'night', '2026-11-18T16:00-05:00'],
  ['just before the close', '2026-11-18T15:59:59.999-05:00', null, '2026-11-18T16:00-05:00'],
  ['at the close', '2026-11-18T16:00:00-05:00', 'night', '2026-11-19T16:00-05:00'],
  ['before midnight', '2026-11-18T23:59:59-05:00', 'night', '2026-11-19T16:00-05:00'],
  ['after midnight', '2026-11-19T00:00:00-05:00', 'night', '2026-11-19T16:00-05:00'],
  ['a Friday evening', '2026-11-20T19:00:00-05:00', 'night', '2026-11-23T16:00-05:00'],
  ['a Saturday', '2026-11-21T00:00:00-05:00', 'weekend', '2026-11-23T16:00-05:00'],
  ['a Sunday', '2026-11-22T23:59:59-05:00', 'weekend', '2026-11-23T16:00-05:00'],
  ['the evening before', '2026-11-25T20:00:00-05:00', 'night', '2026-11-27T13:00-05:00'],
  ['Thanksgiving', '2026-11-26T12:00:00-05:00', 'holiday', '2026-11-27T13:00-05:00'],
  ['the half day after', '2026-11-27T12:59:59-05:00', null, '2026-11-27T13:00-05:00'],
  ['after its close', '2026-11-27T13:00:00-05:00', 'night', '2026-11-30T16:00-05:00'],
  ['Good Friday', '2026-04-03T12:00:00-04:00', 'holiday', '2026-04-06T16:00-04:00'],
  ['a holiday Monday', '2026-09-07T12:00:00-04:00', 'holiday', '2026-09-08T16:00-04:00'],
  ['the Friday before spring', '2026-03-06T16:00:00-05:00', 'night', '2026-03-09T16:00-04:00'],
  ['the Sunday of spring', '2026-03-08T03:30:00-04:00', 'weekend', '2026-03-09T16:00-04:00'],
  ['the Monday after', '2026-03-09T09:30:00-04:00', null, '2026-03-09T16:00-04:00'],
  ['the Friday before autumn', '2026-10-30T16:00:00-04:00', 'night', '2026-11-02T16:00-05:00'],
  ['the Sunday of autumn', '2026-11-01T01:30:00-05:00', 'weekend', '2026-11-02T16:00-05:00'],
  ['the Monday after, before the open', '2026-11-02T09:29:59-05:00', 'night', '2026-11-02T16:00-05:00'],
];

test.each(SESSIONS)('%s: %s', (_name, now, reason, closes) => {
  expect(tradingSession(Date.parse(now))).toEqual({
    state: reason === null ? 'open' : 'closed',
    reason,
    opensAt: Date.parse(closes.replace(/T\d\d:00/, 'T09:30')),
    closesAt: Date.parse(closes),
    isHalfDay: closes.includes('T13:00'),
  });
});

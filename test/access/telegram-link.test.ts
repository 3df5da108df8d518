import { expect, test } from 'bun:test';
import { telegramStatus } from '../../src/access/telegram-link.ts';

const LINK = {
  telegramId: '@zomma_trader',
  routing1dte: true,
  routingRadar: false,
  lastPingAt: Date.UTC(2026, 0, 5, 9, 8, 7, 999),
};

test('shows a link with its handle masked and its times in UTC', () => {
  expect(telegramStatus(LINK)).toEqual({
    status: 'linked',
    telegram_id: '@zom*****',
    routing_1dte: 'ENABLED',
    routing_radar: 'DISABLED',
    last_ping: '2026-01-05 09:08:07',
  });
  expect(telegramStatus({ ...LINK, routing1dte: false, routingRadar: true, lastPingAt: null })).toMatchObject({
    routing_1dte: 'DISABLED',
    routing_radar: 'ENABLED',
    last_ping: '',
  });
});

test.each([
  ['', '*****'],
  ['a', '*****'],
  ['ab', 'a*****'],
  ['abc', 'a*****'],
  ['abcdefg', 'abc*****'],
  ['abcdefgh', 'abcd*****'],
  ['a'.repeat(64), 'aaaa*****'],
  ['🐳🐳🐳', '🐳*****'],
])('masks the handle %j as %j', (telegramId, masked) => {
  expect(telegramStatus({ ...LINK, telegramId }).telegram_id).toBe(masked);
});

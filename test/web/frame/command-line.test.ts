import { expect, test } from 'bun:test';
import { parseCommand } from '../../../web/frame/command-line.ts';
import { START } from '../../../web/state/address.ts';

const MOMENTS = [
  '2026-11-18T21:00:00Z',
  '2026-11-19T20:30:00Z',
  '2026-11-19T21:00:00Z',
  '2026-11-20T14:45:00Z',
  '2026-11-20T20:30:00Z',
  '2026-11-20T20:45:00Z',
  '2026-11-20T21:00:00Z',
];
const CONTEXT = { state: START, tickers: ['SPY', 'QQQ', 'BRK.B'], moments: MOMENTS };

test.each([
  ['SPY flow', { ticker: 'SPY', view: 'flow' }],
  ['flow', { view: 'flow' }],
  ['brk.b strikes', { ticker: 'BRK.B', view: 'strikes' }],
  ['SPY @2026-11-20 15:30', { ticker: 'SPY', at: '2026-11-20T20:30:00Z' }],
  ['@2026-11-19', { at: '2026-11-19T21:00:00Z' }],
  ['@-1d', { at: '2026-11-19T21:00:00Z' }],
  ['SPY @09:45 ~ @15:45', { ticker: 'SPY', pinned: '2026-11-20T14:45:00Z', at: '2026-11-20T20:45:00Z', isDiff: true }],
  ['QQQ history @15:31', { ticker: 'QQQ', view: 'history', at: '2026-11-20T20:30:00Z' }],
])('%s', (text, change) => {
  expect(parseCommand(text, CONTEXT)?.change).toEqual(change as never);
});

test.each(['', 'SPY', 'XYZ flow', 'SPY @', 'SPY @tomorrow', '@2020-01-01', '@25:99:00', '0dte', 'SPY @1 @2 @3'])(
  '%p is no command',
  (text) => {
    expect(parseCommand(text, CONTEXT)).toBeUndefined();
  },
);

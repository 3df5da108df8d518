import { expect, test } from 'bun:test';
import { gapNotes } from '../../../src/operations/reading/signed-tape.ts';
import { chainOf, contract } from '../../analytics/small-chains.ts';
import { smallMarket } from '../small-market.ts';

/** Monday 2026-01-05, 15:00 in New York. */
const NOW = Date.parse('2026-01-05T20:00:00Z');
const at = (text: string) => Date.parse(`${text}-05:00`);

type Gap = readonly [from: string, to?: string];

function notesOf(gaps: readonly Gap[], overrides: { simulated?: boolean; now?: number } = {}): string[] {
  const { context, store } = smallMarket({}, overrides.now ?? NOW);
  store.openFeeds([{ name: 'massive', simulated: false, tickers: [] }]);
  for (const [from, to] of gaps) {
    store.connection('massive', false, at(from), 'cut');
    if (to !== undefined) store.connection('massive', true, at(to), null);
  }
  const chain = chainOf([contract()], { asOf: NOW, simulated: overrides.simulated ?? false });
  return gapNotes(chain, 30, context);
}

test.each<[string, readonly Gap[], RegExp | undefined]>([
  ['no gap', [], undefined],
  [
    'one gap in trading hours',
    [['2026-01-05T11:00:00', '2026-01-05T11:05:00']],
    /from 2026-01-05T16:00:00.000Z to 2026-01-05T16:05:00.000Z \(cut\)\.$/,
  ],
  ['one that lasts', [['2026-01-05T14:00:00']], /from 2026-01-05T19:00:00.000Z on \(cut\)\.$/],
  ['overnight', [['2026-01-04T20:00:00', '2026-01-05T09:00:00']], undefined],
  ['from the evening into the trading session', [['2026-01-02T20:00:00', '2026-01-05T09:31:00']], /2026-01-05T14:31/],
  ['before the window', [['2025-12-01T11:00:00', '2025-12-01T12:00:00']], undefined],
  [
    'many gaps',
    ['10', '11', '12', '13', '14'].map((hour) => [`2026-01-05T${hour}:00:00`, `2026-01-05T${hour}:01:00`] as const),
    /and in 2 earlier periods\.$/,
  ],
])('%s', (_name, gaps, expected) => {
  const notes = notesOf(gaps);
  expect(notes).toEqual(expected === undefined ? [] : [expect.stringMatching(expected)]);
});

test('a gap after the requested moment is unknown, and simulated prints have no gaps', () => {
  expect(notesOf([['2026-01-05T14:00:00']], { now: at('2026-01-05T13:00:00') })).toEqual([]);
  expect(notesOf([['2026-01-05T14:00:00']], { simulated: true })).toEqual([]);
});

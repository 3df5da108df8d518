import { expect, test } from 'bun:test';
import type { StoredTape, Stretch } from '../../../src/market/tape.ts';
import { forEachStretch } from '../../../src/operations/reading/signed-tape.ts';
import { print } from '../../analytics/small-chains.ts';
import { stretchOf } from '../../support/tapes.ts';

const busy = (ms: number) => {
  for (const until = performance.now() + ms; performance.now() < until; );
};

/** A tape of `count` stretches. */
function tapeOf(count: number): StoredTape {
  const stretches = () => Array.from({ length: count }, (_, i): Stretch => stretchOf([print({ at: i })]));
  return { count, version: '', prints: [], stretches };
}

test.each([
  ['as long as a turn: each is one step', 14, (turns: number) => turns === 6],
  ['of which two exceed a turn: each is one step', 9, (turns: number) => turns === 6],
  ['that take no time: all are one step', 0, (turns: number) => turns < 3],
])('stretches %s', (_what, ms, isRight) => {
  const taken: number[] = [];
  const take = (stretch: Stretch) => {
    busy(ms);
    taken.push(stretch.toMs);
  };
  const turns = forEachStretch(tapeOf(6), 1, take).toArray();
  expect(taken).toEqual([0, 1, 2, 3, 4, 5]);
  expect(turns.length).toSatisfy(isRight);
});

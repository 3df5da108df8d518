import { expect, test } from 'bun:test';
import { crossingsOf } from '../../../src/operations/gex/level-crossings.ts';

const BEFORE = {
  spot: 100,
  gexFlip: 98,
  flipResolved: true,
  callWall: 105,
  putWall: 95,
  netGex: 5,
  grossGex: 10,
  signProbability: 0.9,
};
const DOWN = { on: 'flip_cross', direction: 'down' };
const CALL_WALL = { on: 'wall_break', direction: 'up', wall: 'call_wall' };
const PUT_WALL = { on: 'wall_break', direction: 'down', wall: 'put_wall' };

test.each<[string, Partial<typeof BEFORE>, Partial<typeof BEFORE>, unknown[]]>([
  ['nothing changed', {}, {}, []],
  ['spot fell below the flip', {}, { spot: 97 }, [{ ...DOWN, price: 98 }]],
  ['spot rose above the flip', { spot: 97 }, {}, [{ on: 'flip_cross', direction: 'up', price: 98 }]],
  ['the flip moved above spot', {}, { gexFlip: 101 }, [{ ...DOWN, price: 101 }]],
  ['spot is at the flip, which counts as above', {}, { spot: 98 }, []],
  ['the later flip is not resolved', {}, { spot: 97, flipResolved: false }, []],
  ['the earlier flip is not resolved', { flipResolved: false }, { spot: 97 }, []],
  ['spot rose above the call wall, which moved up', {}, { spot: 106, callWall: 110 }, [{ ...CALL_WALL, price: 105 }]],
  ['spot rose to the call wall', {}, { spot: 105 }, []],
  ['spot rose from the call wall', { spot: 105 }, { spot: 105.01, callWall: 110 }, [{ ...CALL_WALL, price: 105 }]],
  ['the call wall moved down to spot', {}, { callWall: 100 }, []],
  ['spot was above the call wall', { spot: 106 }, { spot: 107 }, []],
  [
    'spot fell below the put wall and the flip',
    {},
    { spot: 94, putWall: 90 },
    [
      { ...DOWN, price: 98 },
      { ...PUT_WALL, price: 95 },
    ],
  ],
  ['spot fell to the put wall', { gexFlip: 90 }, { spot: 95, gexFlip: 90 }, []],
  ['spot was below the put wall', { spot: 94 }, { spot: 93 }, []],
  ['the regime changed', {}, { netGex: -5 }, [{ on: 'regime', from: 'positive_gamma', to: 'negative_gamma' }]],
  [
    'the regime became undetermined',
    {},
    { netGex: 0.1 },
    [{ on: 'regime', from: 'positive_gamma', to: 'undetermined' }],
  ],
  ['net gamma changed without the regime', {}, { netGex: 1 }, []],
])('%s', (_what, before, after, crossings) => {
  expect(crossingsOf({ ...BEFORE, ...before }, { ...BEFORE, ...after })).toEqual(crossings as never);
});

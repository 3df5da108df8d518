import { describe, expect, test } from 'bun:test';
import {
  LEVEL_KINDS,
  type LevelDay,
  type LevelKind,
  type LevelOutcome,
  scoreLevels,
  wilsonInterval,
} from '../../../src/analytics/exposure/level-outcomes.ts';
import { generator } from '../../../src/bench/workloads.ts';
import { runToCompletion } from '../../../src/core/steps.ts';

const scoresOf = (days: readonly LevelDay[]) => runToCompletion(scoreLevels(days));

/** A day whose daily deviation is 2 dollars. */
function dayOf(changes: Partial<LevelDay> = {}): LevelDay {
  const close = changes.close ?? 100;
  return {
    ...{ spot: 100, callWall: 104, putWall: 96, gexFlip: 98, deviation: 2, close, seen: [close] },
    ...changes,
  };
}

const NONE: LevelOutcome = { held: false, touched: false, crossed: false };
const HELD = { ...NONE, held: true };
const TOUCHED = { ...HELD, touched: true };
const CROSSED = { ...NONE, crossed: true };

describe('the outcome of a day', () => {
  test.each<[string, LevelKind, Partial<LevelDay>, LevelOutcome]>([
    ['the price stays away', 'call_wall', { close: 101 }, HELD],
    ['the close is at the wall', 'call_wall', { close: 104 }, TOUCHED],
    ['the close is beyond the wall', 'call_wall', { close: 105 }, CROSSED],
    ['the close is just beyond the wall', 'call_wall', { close: 104.01 }, { ...CROSSED, touched: true }],
    ['a spot is within a tenth of a deviation', 'call_wall', { seen: [103.8, 100] }, TOUCHED],
    ['a spot is a little further away', 'call_wall', { seen: [103.79, 100] }, HELD],
    ['a spot is beyond, and the close is not', 'call_wall', { seen: [100, 105, 100] }, { ...HELD, crossed: true }],
    ['a spot is at the wall and another beyond', 'call_wall', { seen: [104, 107] }, { ...TOUCHED, crossed: true }],
    ['a fall does not concern the call wall', 'call_wall', { close: 80 }, HELD],
    ['the close is at the put wall', 'put_wall', { close: 96 }, TOUCHED],
    ['the close is below the put wall', 'put_wall', { close: 95 }, CROSSED],
    ['a rise does not concern the put wall', 'put_wall', { close: 120 }, HELD],
    ['the close is within the band', 'band', { close: 100 }, HELD],
    ['the close is above the band', 'band', { close: 105 }, CROSSED],
    ['the close is below the band', 'band', { close: 95 }, CROSSED],
    ['each wall is touched', 'band', { seen: [104.1, 95.9, 100] }, { ...TOUCHED, crossed: true }],
    ['the lower wall is touched', 'band', { seen: [96, 100] }, TOUCHED],
    ['the price stays above the flip', 'flip', { close: 99 }, HELD],
    ['the close is at the flip', 'flip', { close: 98 }, TOUCHED],
    ['the price falls below the flip', 'flip', { close: 97 }, CROSSED],
    ['the price stays below a flip above it', 'flip', { gexFlip: 103, close: 97 }, HELD],
    ['the price rises above a flip above it', 'flip', { gexFlip: 103, close: 104 }, CROSSED],
    ['the walls are on the wrong side', 'call_wall', { callWall: 99, close: 100 }, CROSSED],
  ])('%s', (_name, kind, changes, expected) => {
    expect(scoresOf([dayOf(changes)])[kind].outcomes).toEqual([expected]);
  });

  test('a day without a resolved flip does not count for the flip', () => {
    const { flip, band } = scoresOf([dayOf({ gexFlip: null }), dayOf()]);
    expect([flip.days, flip.outcomes, band.days]).toEqual([1, [null, HELD], 2]);
  });
});

describe('rates', () => {
  /** `count` days with the same distance of the call wall and the same move, in deviations. */
  const repeat = (count: number, wall: number, move: number) =>
    Array.from({ length: count }, () => dayOf({ callWall: 100 + 2 * wall, close: 100 + 2 * move }));

  test('the control places the level of each day on the other days', () => {
    // Walls 1 away on ten days that move by 0.5, and walls 2 away on ten days that move by 1.5.
    const { call_wall: wall } = scoresOf([...repeat(10, 1, 0.5), ...repeat(10, 2, 1.5)]);
    expect(wall).toMatchObject({ days: 20, held: { count: 20, share: 1 } });
    // A wall 1 away holds on 9 of the 19 other days, and a wall 2 away on all of them.
    expect(wall.held.control).toBeCloseTo((9 / 19 + 1) / 2, 12);
    expect(wall.verdict).toBe('held more often than a level at the same distance');
    expect(wall.crossed).toMatchObject({ count: 0, share: 0 });
    expect(wall.crossed.control).toBeCloseTo(10 / 19 / 2, 12);
  });

  test('walls that are near on the days with large moves hold less often', () => {
    const { call_wall: wall } = scoresOf([...repeat(10, 1, 1.5), ...repeat(10, 2, 0.5)]);
    expect(wall.held).toMatchObject({ count: 10, share: 0.5 });
    // A wall 1 away holds on the 10 days with a small move, and a wall 2 away on all other days.
    expect(wall.held.control).toBeCloseTo((10 / 19 + 1) / 2, 12);
    expect(wall.verdict).toBe('held less often than a level at the same distance');
  });

  test('walls at a constant distance are no better than distance, however often they hold', () => {
    for (const days of [repeat(60, 2, 1), repeat(60, 2, 3), [...repeat(40, 2, 1), ...repeat(20, 2, 3)]]) {
      const { held, verdict } = scoresOf(days).call_wall;
      expect(held.control).toBeCloseTo(held.share!, 12);
      expect(verdict).toBe('no better than distance');
    }
  });

  test('the flip is compared with all other days, those without a resolved flip included', () => {
    const days = [
      ...Array.from({ length: 20 }, () => dayOf({ gexFlip: 98, close: 101 })),
      ...Array.from({ length: 5 }, () => dayOf({ gexFlip: null, close: 97 })),
    ];
    const { flip } = scoresOf(days);
    expect([flip.days, flip.held.share]).toEqual([20, 1]);
    expect(flip.held.control).toBeCloseTo(19 / 24, 12);
  });

  test.each([
    [0, 'too few days'],
    [1, 'too few days'],
    [19, 'too few days'],
    [20, 'no better than distance'],
  ])('%i days', (count, verdict) => {
    const { call_wall: wall } = scoresOf(repeat(count, 2, 1));
    expect([wall.days, wall.verdict, wall.held.count]).toEqual([count, verdict as typeof wall.verdict, count]);
    const isStated = count >= 20;
    for (const { share, low, high, control } of [wall.held, wall.touched, wall.crossed]) {
      for (const each of [share, low, high, control]) expect(each !== null).toBe(isStated);
    }
  });
});

describe('the Wilson interval', () => {
  // From the definition: the shares whose distance from the observed share is 1.96 of their own standard errors.
  const bound = (count: number, of: number, sign: number) => {
    const share = count / of;
    let [inner, outer] = [share, sign > 0 ? 1 : 0];
    for (let i = 0; i < 100; i++) {
      const middle = (inner + outer) / 2;
      const isInside = Math.abs(middle - share) <= 1.959964 * Math.sqrt((middle * (1 - middle)) / of);
      if (isInside) inner = middle;
      else outer = middle;
    }
    return inner;
  };
  test.each([
    [0, 20],
    [1, 20],
    [10, 20],
    [20, 20],
    [52, 60],
    [217, 250],
    [250, 250],
  ])('of %i out of %i', (count, of) => {
    const [low, high] = wilsonInterval(count, of);
    expect(low).toBeCloseTo(bound(count, of, -1), 9);
    expect(high).toBeCloseTo(bound(count, of, 1), 9);
    expect([low >= 0, high <= 1]).toEqual([true, true]);
  });
  test('includes its ends exactly', () => {
    for (let of = 20; of < 400; of++) {
      expect([wilsonInterval(0, of)[0], wilsonInterval(of, of)[1]]).toEqual([0, 1]);
    }
  });
});

test('many days are compared in steps', () => {
  const days = Array.from({ length: 1_000 }, (_, i) => dayOf({ close: 100 + (i % 7) }));
  let steps = 0;
  for (const work = scoreLevels(days); !work.next().done; ) steps++;
  expect(steps).toBeGreaterThan(100);
});

/**
 * A random walk with levels that say nothing about its next move. The walls are strikes 5 dollars apart that stay for some days, as real
 * walls do. The volatility changes from day to day, and the options imply a volatility that is too high or too low for the whole walk.
 */
function randomWalk(seed: number, days: number, spots: number): LevelDay[] {
  const random = generator(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const bias = 0.7 + 0.6 * random();
  let price = 500;
  let [callWall, putWall, gexFlip] = [0, 0, 0];
  return Array.from({ length: days }, () => {
    if (random() < 0.2 || callWall < price || putWall > price) {
      callWall = 5 * Math.ceil((price * (1 + 0.02 * random())) / 5);
      putWall = 5 * Math.floor((price * (1 - 0.02 * random())) / 5);
    }
    gexFlip = price * (1 + 0.01 * normal());
    const spot = price;
    const daily = 0.008 * (0.6 + 0.8 * random());
    const seen = Array.from({ length: spots }, () => {
      price *= Math.exp((daily / Math.sqrt(spots)) * normal());
      return price;
    });
    return {
      ...{ spot, callWall, putWall, gexFlip: random() < 0.1 ? null : gexFlip },
      ...{ deviation: spot * daily * bias, close: price, seen },
    };
  });
}

describe('a random walk differs from its control in at most five of a hundred cases', () => {
  test.each([
    [60, 1],
    [60, 13],
    [250, 13],
  ])('%i days with %i spots each', (days, spots) => {
    const within: Record<string, number> = {};
    for (let seed = 1; seed <= 100; seed++) {
      const scores = scoresOf(randomWalk(seed, days, spots));
      for (const kind of LEVEL_KINDS) {
        for (const outcome of ['held', 'touched', 'crossed'] as const) {
          const { low, high, control } = scores[kind][outcome];
          within[`${kind} ${outcome}`] = (within[`${kind} ${outcome}`] ?? 0) + +(control! >= low! && control! <= high!);
        }
      }
    }
    expect(Object.keys(within)).toHaveLength(12);
    expect(Object.entries(within).filter(([, count]) => count < 95)).toEqual([]);
  });

  test('and the mean difference from the control is small', () => {
    const walks = 100;
    for (const kind of LEVEL_KINDS) {
      let sum = 0;
      let variance = 0;
      for (let seed = 1; seed <= walks; seed++) {
        const { share, control } = scoresOf(randomWalk(seed, 120, 1))[kind].held;
        sum += share! - control!;
        variance += (share! - control!) ** 2;
      }
      const error = Math.sqrt(variance) / walks;
      expect([kind, Math.abs(sum / walks) < 3 * error + 0.005]).toEqual([kind, true]);
    }
  });
});

test('walls that hold by themselves are seen', () => {
  // The same walk, but every close beyond a wall is brought back to it.
  const days = randomWalk(3, 250, 1).map((day) => {
    const close = Math.max(day.putWall, Math.min(day.callWall, day.close));
    return { ...day, close, seen: [close] };
  });
  const { call_wall, put_wall, band } = scoresOf(days);
  for (const { held, verdict } of [call_wall, put_wall, band]) {
    expect([held.share, verdict]).toEqual([1, 'held more often than a level at the same distance']);
  }
});

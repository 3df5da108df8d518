import { type Static, Type } from '@sinclair/typebox';
import { gammaOfRecord, gammaRegime } from '../../analytics/exposure/sign-margin.ts';
import type { LevelRecord } from '../../market/level-record.ts';
import { documented, namedObject, number, oneOf } from '../engine/schemas.ts';
import { regimeField } from './gamma-regime.ts';

/** The kinds of crossings: of the gamma flip by spot, of a wall by spot, and from one regime to another. */
export const CROSSING_KINDS = ['flip_cross', 'wall_break', 'regime'] as const;
export type CrossingKind = (typeof CROSSING_KINDS)[number];

export const crossingKind = documented(oneOf(CROSSING_KINDS, 'Kind of a crossing.'), { name: 'CrossingKind' });

const direction = oneOf(['up', 'down'], 'Direction of spot.');

/** The schema of what changed from one snapshot of a ticker to the next. */
export const crossing = documented(
  Type.Union([
    namedObject('FlipCross', 'Spot has crossed the flip.', {
      on: Type.Literal('flip_cross'),
      direction,
      price: number('The flip, dollars.'),
    }),
    namedObject('WallBreak', 'Spot has crossed a wall of the snapshot before.', {
      on: Type.Literal('wall_break'),
      direction,
      wall: oneOf(['call_wall', 'put_wall'], 'The wall that spot has crossed.'),
      price: number('The wall, dollars.'),
    }),
    namedObject('RegimeChange', 'The regime has changed.', {
      on: Type.Literal('regime'),
      from: regimeField('Regime of the snapshot before.'),
      to: regimeField('Regime of the snapshot.'),
    }),
  ]),
  { name: 'Crossing' },
);

export type Crossing = Static<typeof crossing>;

type Levels = Pick<
  LevelRecord,
  'spot' | 'gexFlip' | 'flipResolved' | 'callWall' | 'putWall' | 'netGex' | 'grossGex' | 'signProbability'
>;

/**
 * Returns the crossings from one level record of a ticker to the next. Spot crosses the flip if the spots are on different sides of their own
 * flips, and both flips are resolved. Spot breaks a wall of the earlier record, because the walls of the later one are on both sides of its
 * spot: the call wall if spot rises above it, the put wall if spot falls below it.
 */
export function crossingsOf(before: Levels, after: Levels): Crossing[] {
  const crossings: Crossing[] = [];
  const [wasAbove, isAbove] = [before, after].map(({ spot, gexFlip }) => spot >= gexFlip);
  if (before.flipResolved && after.flipResolved && wasAbove !== isAbove) {
    crossings.push({ on: 'flip_cross', direction: isAbove ? 'up' : 'down', price: after.gexFlip });
  }
  const { callWall, putWall, spot } = before;
  if (spot <= callWall && after.spot > callWall) {
    crossings.push({ on: 'wall_break', direction: 'up', wall: 'call_wall', price: callWall });
  }
  if (spot >= putWall && after.spot < putWall) {
    crossings.push({ on: 'wall_break', direction: 'down', wall: 'put_wall', price: putWall });
  }
  const regimeOf = (levels: Levels) => gammaRegime(gammaOfRecord(levels));
  const [from, to] = [regimeOf(before), regimeOf(after)];
  if (from !== to) crossings.push({ on: 'regime', from, to });
  return crossings;
}

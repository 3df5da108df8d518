import type { Levels } from '../data/page-answers.ts';
import { price, strikeText } from '../page-format.ts';
import type { LadderRule } from './ladder-strokes.ts';

/** A level of a ticker with the name and line style that the charts use. */
export interface ChartLevel extends LadderRule {
  readonly id: 'call_wall' | 'gex_flip' | 'put_wall' | 'max_pain' | 'spot_price';
  readonly name: string;
  /** Two letters that replace the name on narrow charts. */
  readonly initials: string;
  readonly text: string;
}

/**
 * Returns the levels of a snapshot. An unresolved flip is left out, because it has no price. Each level has its own line pattern and name.
 */
export function chartLevels(
  levels: Pick<Levels, 'call_wall' | 'gex_flip' | 'flip_resolved' | 'max_pain' | 'spot_price' | 'put_wall'>,
): ChartLevel[] {
  const all: (ChartLevel | false)[] = [
    {
      id: 'call_wall',
      name: 'call wall',
      initials: 'CW',
      price: levels.call_wall,
      tone: 'positive',
      dash: 'solid',
      width: 1.5,
      text: strikeText(levels.call_wall),
    },
    levels.flip_resolved && {
      id: 'gex_flip',
      name: 'flip',
      initials: 'FL',
      price: levels.gex_flip,
      tone: 'text',
      dash: 'dashed',
      width: 1.5,
      text: price(levels.gex_flip),
    },
    {
      id: 'max_pain',
      name: 'max pain',
      initials: 'MP',
      price: levels.max_pain,
      tone: 'muted',
      dash: 'dotted',
      width: 1.5,
      text: strikeText(levels.max_pain),
    },
    {
      id: 'spot_price',
      name: 'spot',
      initials: 'SP',
      price: levels.spot_price,
      tone: 'text',
      dash: 'solid',
      width: 2,
      text: price(levels.spot_price),
    },
    {
      id: 'put_wall',
      name: 'put wall',
      initials: 'PW',
      price: levels.put_wall,
      tone: 'negative',
      dash: 'solid',
      width: 1.5,
      text: strikeText(levels.put_wall),
    },
  ];
  return all.filter((each): each is ChartLevel => each !== false && Number.isFinite(each.price));
}

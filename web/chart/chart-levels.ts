import type { Levels } from '../data/page-answers.ts';
import { price, strikeText } from '../page-format.ts';
import type { LadderRule } from './ladder-strokes.ts';

type LevelId = 'call_wall' | 'gex_flip' | 'put_wall' | 'max_pain' | 'spot_price';

/** A price level of a ticker, with its name and its line style in the charts. */
export interface ChartLevel extends LadderRule {
  readonly id: LevelId | 'vanna_flip' | 'charm_flip';
  readonly name: string;
  /** Two letters that replace the name in narrow charts. */
  readonly initials: string;
  readonly text: string;
}

/** The levels in the order in which the charts draw them. Each level has its own line pattern and name. */
const LEVELS: readonly (Omit<ChartLevel, 'price' | 'text' | 'id'> & {
  readonly id: LevelId;
  readonly print: typeof price;
})[] = [
  {
    id: 'call_wall',
    name: 'call wall',
    initials: 'CW',
    tone: 'positive',
    dash: 'solid',
    width: 1.5,
    print: strikeText,
  },
  { id: 'gex_flip', name: 'flip', initials: 'FL', tone: 'text', dash: 'dashed', width: 1.5, print: price },
  { id: 'max_pain', name: 'max pain', initials: 'MP', tone: 'muted', dash: 'dotted', width: 1.5, print: strikeText },
  { id: 'spot_price', name: 'spot', initials: 'SP', tone: 'text', dash: 'solid', width: 2, print: price },
  { id: 'put_wall', name: 'put wall', initials: 'PW', tone: 'negative', dash: 'solid', width: 1.5, print: strikeText },
];

/** Returns the levels of a snapshot. An unresolved flip is left out, because it has no price. */
export function chartLevels(levels: Pick<Levels, LevelId | 'flip_resolved'>): ChartLevel[] {
  return LEVELS.filter(({ id }) => Number.isFinite(levels[id]) && (id !== 'gex_flip' || levels.flip_resolved)).map(
    ({ print, ...level }) => ({ ...level, price: levels[level.id], text: print(levels[level.id]) }),
  );
}

/** Returns the spots at which net vanna and net charm change sign, as levels. */
export function greekFlips(flips: {
  readonly vanna_flip: number | null;
  readonly charm_flip: number | null;
}): ChartLevel[] {
  return (['vanna_flip', 'charm_flip'] as const).flatMap((id) => {
    const at = flips[id];
    const name = id.replace('_', ' ');
    const initials = id === 'vanna_flip' ? 'VF' : 'CF';
    return at === null
      ? []
      : [{ id, name, initials, text: price(at), price: at, tone: 'muted' as const, dash: 'dotted' as const, width: 1 }];
  });
}

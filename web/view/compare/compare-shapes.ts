import { percent, strikeText } from '../../page-format.ts';
import type { PanelTable } from '../../state/panels.ts';
import type { DayFigures } from '../../state/watched-tickers.ts';

/** Half the length of the axis of the ladders, percent of spot. */
const RANGES = [2, 4, 6, 10, 15, 25];

/** Returns the smallest range that contains the walls and the flip of all tickers, or the largest range. */
export function ladderRange(rows: readonly DayFigures[]): number {
  const distances = rows.flatMap(({ spot, putWall, callWall, flip }) =>
    [putWall, callWall, flip ?? spot].map((level) => Math.abs(100 * (level / spot - 1))),
  );
  return RANGES.find((range) => distances.every((distance) => distance <= range)) ?? RANGES.at(-1)!;
}

/** Returns the levels of a ticker in one sentence, for screen readers. */
export function ladderSentence({ spot, putWall, callWall, flip }: DayFigures): string {
  const level = (name: string, at: number) => `${name} ${strikeText(at)}, ${percent(100 * (at / spot - 1), 1)}`;
  return [
    level('put wall', putWall),
    flip === null ? 'no flip' : level('flip', flip),
    level('call wall', callWall),
  ].join('; ');
}

/** Returns the path of a line through values with equal distances, within a box of the given size. */
export function sparkPath(values: readonly number[], width: number, height: number): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (i: number) => 1 + (i * (width - 2)) / (values.length - 1);
  const y = (value: number) => (high > low ? 2 + ((high - value) / (high - low)) * (height - 4) : height / 2);
  return values.map((value, i) => `${i === 0 ? 'M' : 'L'}${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join('');
}

/** Returns the figures of the compared tickers as a table. */
export function compareTable(rows: readonly DayFigures[]): PanelTable {
  const columns: Readonly<Record<string, (row: DayFigures) => string | number | null>> = {
    ticker: ({ ticker }) => ticker,
    as_of: ({ asOf }) => asOf,
    spot: ({ spot }) => spot,
    previous_spot: ({ previousSpot }) => previousSpot,
    change_pct: ({ change }) => change,
    regime: ({ regime }) => regime,
    net_gex: ({ netGex }) => netGex,
    gex_flip: ({ flip }) => flip,
    put_wall: ({ putWall }) => putWall,
    call_wall: ({ callWall }) => callWall,
    iv_rank: ({ ivRank }) => ivRank,
    daily_move: ({ move }) => move,
  };
  return { columns: Object.keys(columns), rows: rows.map((row) => Object.values(columns).map((value) => value(row))) };
}

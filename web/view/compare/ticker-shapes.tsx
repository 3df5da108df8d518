import { type History, useAnswer } from '../../data/page-answers.ts';
import { newYorkIsoDate, percent, price, signTone, strikeText } from '../../page-format.ts';
import { page } from '../../state/page.ts';
import type { DayFigures } from '../../state/watched-tickers.ts';
import { DAY_LENGTH_MS } from '../../time/exchange-days.ts';

/** Half the length of the axis of the ladders, percent of spot. */
const RANGES = [2, 4, 6, 10, 15, 25];
const WIDTH = 200;

/** Returns the smallest range that contains the walls and the flip of all tickers, or the largest range. */
export function ladderRange(rows: readonly DayFigures[]): number {
  const distances = rows.flatMap(({ spot, put_wall, call_wall, gex_flip }) =>
    [put_wall, call_wall, gex_flip ?? spot].map((level) => Math.abs(100 * (level / spot - 1))),
  );
  return RANGES.find((range) => distances.every((distance) => distance <= range)) ?? RANGES.at(-1)!;
}

/** Returns the levels of a ticker in one sentence, for screen readers. */
export function ladderSentence({ spot, put_wall, call_wall, gex_flip }: DayFigures): string {
  const level = (name: string, at: number) => `${name} ${strikeText(at)}, ${percent(100 * (at / spot - 1), 1)}`;
  const flip = gex_flip === null ? 'no flip' : level('flip', gex_flip);
  return [level('put wall', put_wall), flip, level('call wall', call_wall)].join('; ');
}

/** Renders walls, flip and spot on an axis of ± `range` percent of spot. A level farther away is an arrow at the end of the axis. */
export function MiniLadder({ figures, range }: { figures: DayFigures; range: number }) {
  const { spot, put_wall, call_wall, gex_flip } = figures;
  const away = (level: number) => (level / spot - 1) / (range / 100);
  const at = (level: number) => WIDTH / 2 + Math.min(1, Math.max(-1, away(level))) * (WIDTH / 2 - 8);
  const mark = (level: number, name: string) => {
    const [x, side] = [at(level), 6 * Math.sign(away(level))];
    return (
      <path class={`mark ${name}`} d={Math.abs(away(level)) > 1 ? `M${x} 7l${side} 5l${-side} 5z` : `M${x} 3v18`} />
    );
  };
  return (
    <svg
      class="ladder-row"
      preserveAspectRatio="xMinYMid"
      viewBox={`0 0 ${WIDTH} 24`}
      role="img"
      aria-label={ladderSentence(figures)}
    >
      <path class="grid-line" d={`M8 12h${WIDTH - 16}`} />
      <path class="between" d={`M${at(put_wall)} 12H${at(call_wall)}`} />
      {mark(put_wall, 'negative')}
      {mark(call_wall, 'positive')}
      {gex_flip !== null && mark(gex_flip, 'dashed')}
      <circle class="mark" cx={WIDTH / 2} cy={12} r={3} />
    </svg>
  );
}

const DAYS = 60;

/** Renders the spot at the last snapshot of each of the last 60 days. */
export function Spark({ figures: { ticker, as_of, spot } }: { figures: DayFigures }) {
  const { at } = page.value;
  const from = newYorkIsoDate(Date.parse(as_of) - DAYS * DAY_LENGTH_MS);
  const { answer } = useAnswer<History>({
    operation: 'get_gex_history',
    args: { ticker, from, per: 'day', points: DAYS, ...(at !== null && { at }) },
  });
  // The last point is the present spot.
  const spots = [...(answer?.body.spot.slice(0, -1) ?? []), spot];
  if (spots.length < 2) return <span class="muted">{answer && 'one day'}</span>;
  const total = percent(100 * (spot / spots[0]! - 1), 0);
  const ends = `low ${price(Math.min(...spots))}, high ${price(Math.max(...spots))}`;
  return (
    <>
      <svg class="spark" viewBox="0 0 96 24" role="img" aria-label={`${spots.length} days, ${total}: ${ends}`}>
        <path class="curve" d={sparkPath(spots, 96, 24)} />
      </svg>{' '}
      <span class={signTone(spot - spots[0]!)}>{total}</span>
    </>
  );
}

/** Returns the path of a line through values with equal distances, within a box of the given size. */
export function sparkPath(values: readonly number[], width: number, height: number): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (i: number) => 1 + (i * (width - 2)) / (values.length - 1);
  const y = (value: number) => (high > low ? 2 + ((high - value) / (high - low)) * (height - 4) : height / 2);
  return values.map((value, i) => `${i === 0 ? 'M' : 'L'}${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join('');
}

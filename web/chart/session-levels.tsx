import { bisectCenter } from 'd3-array';
import { useMemo } from 'preact/hooks';
import type { History, Levels } from '../data/page-answers.ts';
import { newYorkDay, newYorkIsoDate, price, strikeText, UNKNOWN } from '../page-format.ts';
import type { PanelTable } from '../state/panels.ts';
import { priceRange } from '../state/price-range.ts';
import { AxisLabels, Crosshair, LABELS_WIDTH } from './axis-labels.tsx';
import { useSize } from './canvas.tsx';
import { pointerCursor, pointWithin } from './chart-cursor.tsx';
import { priceAxis } from './price-axis.ts';
import { type ChartSeries, CursorFrame, Legend, type SeriesPlotProps } from './series-chart.tsx';

/** The levels of a ticker at the last snapshot of a session. */
export interface SessionLevel {
  readonly at: string;
  readonly spot: number;
  /** Null if the flip is not resolved. */
  readonly flip: number | null;
  readonly callWall: number;
  readonly putWall: number;
}

/** Number of sessions that the chart shows. */
const SESSIONS = 20;

/**
 * Returns the levels at the last snapshot of each of the last sessions up to a moment. `present` has the levels at this moment, if the
 * history may be older than them.
 */
export function lastSessions(
  history: History | undefined,
  moment: string,
  present: Levels | undefined,
): SessionLevel[] {
  const byDay = new Map<string, SessionLevel>();
  const until = Date.parse(moment);
  for (const [i, at] of (history?.as_of ?? []).entries()) {
    if (Date.parse(at) > until) break;
    byDay.set(history!.day[i]!, {
      at,
      spot: history!.spot[i]!,
      flip: history!.flip_resolved[i] ? history!.gex_flip[i]! : null,
      callWall: history!.call_wall[i]!,
      putWall: history!.put_wall[i]!,
    });
  }
  if (present) {
    const { spot_price: spot, flip_resolved, gex_flip, call_wall: callWall, put_wall: putWall } = present;
    byDay.set(newYorkIsoDate(moment), { at: moment, spot, flip: flip_resolved ? gex_flip : null, callWall, putWall });
  }
  return [...byDay.values()].slice(-SESSIONS);
}

interface SessionLevelsProps extends Pick<SeriesPlotProps, 'cursor' | 'onCursor'> {
  readonly sessions: readonly SessionLevel[];
  readonly spot: number;
  onOpen(index: number): void;
}

/** The levels in the order in which they are drawn, with the class names of their marks. */
const DRAWN = [
  ['callWall', 'positive'],
  ['putWall', 'negative'],
  ['flip', 'flip'],
] as const;

const LEGEND: readonly ChartSeries[] = [
  { name: 'spot', mark: 'dots', y: [0] },
  { name: 'flip', mark: 'line', class: 'flip', y: [0] },
];

/** Renders walls, flip and spot of the last sessions on the page's price axis, one column per session, with the present one at the right. */
export function SessionLevels({ sessions, spot, cursor, onCursor, onOpen }: SessionLevelsProps) {
  const { ref, size } = useSize<HTMLDivElement>();
  const { width, height } = size;
  const { zoom, shift } = priceRange.value;
  const axis = useMemo(() => priceAxis(spot, zoom, shift, height), [spot, zoom, shift, height]);
  const step = Math.max(0, (width - LABELS_WIDTH - 4) / SESSIONS);
  const at = sessions.map((_, i) => width - 4 - (sessions.length - i - 0.5) * step);
  const nearest = (event: MouseEvent) => (sessions.length > 0 ? bisectCenter(at, pointWithin(event).x) : null);
  /** Returns the mark of a level: a dash in the column, or an arrow at the end of the axis beyond which the level lies. */
  const mark = (x: number, level: number | null, half = step / 2 - 0.5) => {
    if (level === null) return '';
    if (level > axis.high) return `M${x - 3} 6l3-5l3 5z`;
    if (level < axis.low) return `M${x - 3} ${height - 6}l3 5l3-5z`;
    return `M${x - half} ${axis.y(level)}h${2 * half}`;
  };
  const days = [sessions[0], sessions.at(-1)].map((each) => each && newYorkDay(each.at).slice(4));
  const isSameYear = sessions[0]?.at.slice(0, 4) === sessions.at(-1)?.at.slice(0, 4);
  return (
    <CursorFrame
      id="sessions"
      class="sessions"
      label={describeSessions(sessions)}
      count={sessions.length}
      cursor={cursor}
      onCursor={onCursor}
      onOpen={onOpen}
      readout={(i) => sessionReadout(sessions[i]!)}
    >
      <div
        ref={ref}
        class="plot"
        {...pointerCursor(nearest, onCursor)}
        onClick={(event) => {
          const index = nearest(event);
          if (index !== null) onOpen(index);
        }}
      >
        {height > 0 && (
          <svg width={width} height={height} aria-hidden="true">
            {axis.ticks.map((tick) => (
              <line key={tick} class="grid-line" x1={LABELS_WIDTH} x2={width} y1={axis.y(tick)} y2={axis.y(tick)} />
            ))}
            {cursor !== null && at[cursor] !== undefined && (
              <rect class="under-cursor" x={at[cursor]! - step / 2} width={step} y={0} height={height} />
            )}
            {DRAWN.map(([name, tone]) => (
              <path
                key={name}
                class={`curve ${tone}`}
                d={sessions.map((each, i) => mark(at[i]!, each[name])).join('')}
              />
            ))}
            <path
              class="curve faint"
              d={sessions.map((each, i) => `${i === 0 ? 'M' : 'L'}${at[i]} ${axis.y(each.spot)}`).join('')}
            />
            <path
              class="point"
              d={sessions
                .map((each, i) => `M${at[i]! - 2.5} ${axis.y(each.spot)}a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0`)
                .join('')}
            />
          </svg>
        )}
        <AxisLabels axis={axis} />
        <Crosshair axis={axis} />
      </div>
      <div class="x-axis titled small" aria-hidden="true">
        {sessions.length > 1 && (
          <span data-label style={{ left: `${LABELS_WIDTH}px` }}>
            {isSameYear ? newYorkDay(sessions[0]!.at, false).slice(4) : days[0]}
          </span>
        )}
        <span data-label class="end">
          {days[1]}
        </span>
        <span data-label class="axis-title end">
          {sessions.length === 1 ? '1 session' : `${sessions.length} sessions`}
        </span>
      </div>
      <Legend series={LEGEND} />
    </CursorFrame>
  );
}

/** Returns the levels of a session as text. */
export function sessionReadout({ at, spot, flip, callWall, putWall }: SessionLevel): string {
  return `${newYorkDay(at)}: spot ${price(spot)}, flip ${flip === null ? UNKNOWN : price(flip)}, walls ${strikeText(putWall)} and ${strikeText(callWall)}`;
}

function describeSessions(sessions: readonly SessionLevel[]): string {
  const last = sessions.at(-1);
  if (!last) return 'No session is stored.';
  return `Levels at the end of ${sessions.length} ${sessions.length === 1 ? 'session' : 'sessions'}. ${sessionReadout(last)}. Arrow keys move from session to session, Enter shows one.`;
}

export function sessionsTable(sessions: readonly SessionLevel[], onOpen: (at: string) => void): PanelTable {
  return {
    columns: ['at', 'spot', 'gex_flip', 'call_wall', 'put_wall'],
    rows: sessions.map(({ at, spot, flip, callWall, putWall }) => [at, spot, flip, callWall, putWall]).reverse(),
    onOpen: (row) => onOpen(String(row[0])),
  };
}

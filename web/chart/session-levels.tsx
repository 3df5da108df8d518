import { useMemo } from 'preact/hooks';
import type { History, Levels } from '../data/page-answers.ts';
import { newYorkDay, newYorkIsoDate, price, strikeText, UNKNOWN } from '../page-format.ts';
import type { PanelTable } from '../state/panels.ts';
import { priceRange } from '../state/price-range.ts';
import { LABEL_DIGIT } from './chart-axis.ts';
import { priceAxis } from './price-axis.ts';
import { CursorFrame, SeriesPlot, type SeriesPlotProps } from './series-chart.tsx';

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

/** Renders walls, flip and spot of the last sessions on the page's price axis. The present session is at the right. */
export function SessionLevels({ sessions, spot, cursor, onCursor, onOpen }: SessionLevelsProps) {
  const { zoom, shift } = priceRange.value;
  const { low, high } = priceAxis(spot, zoom, shift, 1);
  const plot = useMemo(() => plotOf(sessions), [sessions]);
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
      <SeriesPlot
        {...plot}
        range={[low, high]}
        priceTicks={(height) => priceAxis(spot, zoom, shift, height).ticks}
        format={strikeText}
        cursor={cursor}
        onCursor={onCursor}
        onPick={onOpen}
      />
    </CursorFrame>
  );
}

/** Returns positions, axis and series of the sessions. There is room for all sessions, so that each has the same width. */
function plotOf(sessions: readonly SessionLevel[]): Pick<SeriesPlotProps, 'x' | 'axis' | 'series'> {
  const column = (name: 'spot' | 'flip' | 'callWall' | 'putWall') => sessions.map((each) => each[name]);
  const first = SESSIONS - sessions.length;
  return {
    x: sessions.map((_, i) => first + i),
    axis: (left, right) => {
      const x = (at: number) => left + ((right - left) * at) / (SESSIONS - 1);
      // The labels stay within the chart. The year, if it is another one, is that of the last session.
      const [from, to] = [newYorkDay(sessions[0]?.at, false).slice(4), newYorkDay(sessions.at(-1)?.at).slice(4)];
      const last = { x: right + 8 - (to.length * LABEL_DIGIT) / 2, text: to };
      return { x, labels: sessions.length < 16 ? [last] : [{ x: x(first) + 12, text: from }, last] };
    },
    series: [
      { name: 'call wall', mark: 'stairs', y: column('callWall'), class: 'positive' },
      { name: 'put wall', mark: 'stairs', y: column('putWall'), class: 'negative' },
      { name: 'flip', mark: 'line', y: column('flip'), class: 'dashed' },
      { name: 'spot', mark: 'line', y: column('spot'), class: 'spot' },
    ],
  };
}

/** Returns the levels of a session as text. */
export function sessionReadout({ at, spot, flip, callWall, putWall }: SessionLevel): string {
  return `${newYorkDay(at).slice(4)}: spot ${price(spot)}, flip ${flip === null ? UNKNOWN : price(flip)}, walls ${strikeText(putWall)}, ${strikeText(callWall)}`;
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

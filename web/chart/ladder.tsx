import { bisectCenter } from 'd3-array';
import { useMemo, useRef } from 'preact/hooks';
import type { Levels, Strikes } from '../data/page-answers.ts';
import { amount, percent, signedAmount, strikeText } from '../page-format.ts';
import type { Measure } from '../state/address.ts';
import { strikeDifferences } from '../state/moment-diff.ts';
import { navigate } from '../state/page.ts';
import { columnTable, type PanelTable } from '../state/panels.ts';
import { moveAxisTo, priceRange, zoomBy } from '../state/price-range.ts';
import {
  AxisLabels,
  Crosshair,
  ExtentAxis,
  extentTicks,
  LABELS_WIDTH,
  LevelLabels,
  NAMES_FROM,
  NAMES_WIDTH,
} from './axis-labels.tsx';
import { StrokeCanvas, useSize } from './canvas.tsx';
import { CURSOR_CHART, chartKeys, pointWithin, useSpoken } from './chart-cursor.tsx';
import { type ChartLevel, chartLevels } from './chart-levels.ts';
import {
  type LadderRows,
  ladderBars,
  ladderExtent,
  ladderRules,
  presenceLabels,
  strikesPerRow,
} from './ladder-strokes.ts';
import { cursorPrice, isWithin, type PriceAxis, priceAxis, selection } from './price-axis.ts';
import type { Stroke } from './strokes.ts';

export interface LadderProps {
  readonly strikes: Strikes;
  readonly levels: Levels;
  /** The strikes at the earlier moment of a comparison, drawn as outlines. */
  readonly before?: Strikes | undefined;
  readonly measure: Measure;
  /** Called when the member asks for an explanation of a strike. */
  readonly onExplain: (strike: number) => void;
}

/**
 * Renders the ladder: a bar chart of exposure by strike, with the highest price at the top. The ladder has bars of calls and puts, and a
 * line for each level. The arrow keys and the pointer move its cursor.
 */
export function Ladder({ strikes, levels, before, measure, onExplain }: LadderProps) {
  const { ref, size } = useSize<HTMLDivElement>();
  const { zoom, shift } = priceRange.value;
  const rows = useMemo(() => ladderRows(strikes, measure), [strikes, measure]);
  const earlier = useMemo(() => before && ladderRows(before, measure), [before, measure]);
  const axis = useMemo(
    () => priceAxis(strikes.spot_price, zoom, shift, size.height),
    [strikes.spot_price, zoom, shift, size.height],
  );
  const shown = useMemo(() => chartLevels(levels), [levels]);
  const extent = useMemo(() => ladderExtent(earlier ? [rows, earlier] : [rows], axis), [rows, earlier, axis]);
  // A wide ladder has room for the names of the levels, which would hide the ends of the longest bars.
  const isNarrow = size.width < NAMES_FROM;
  const [left, right] = [LABELS_WIDTH, size.width - (isNarrow ? 4 : NAMES_WIDTH)];
  const strokes = useMemo(() => {
    const layout = { axis, left, right, extent };
    const middle = (left + right) / 2;
    const selected = selection.value;
    const all: Stroke[] = axis.ticks.map((price) => gridLine(axis, price, left, right));
    for (const share of extentTicks(left, right)) {
      const x = Math.round(left + ((1 + share) / 2) * (right - left)) + 0.5;
      all.push({ kind: 'line', x1: x, x2: x, y1: 0, y2: size.height, tone: 'line', width: 1, dash: 'solid' });
    }
    if (selected) all.push(bandOf(selected, axis, left, right));
    all.push(...ladderRules(shown, axis, left, size.width));
    all.push({ kind: 'line', x1: middle, x2: middle, y1: 0, y2: size.height, tone: 'muted', width: 1, dash: 'solid' });
    all.push(...ladderBars(rows, layout));
    if (earlier) all.push(...ladderBars(earlier, layout, true));
    return all;
  }, [axis, rows, earlier, shown, extent, size, selection.value]);
  const interaction = useLadderCursor(strikes, shown, axis, onExplain);
  return (
    <div class="chart ladder" data-chart="ladder" data-ticker-of={strikes.ticker}>
      <div
        ref={ref}
        class="plot"
        {...CURSOR_CHART}
        aria-label={`${describeLadder(strikes, levels, measure)} Arrow keys move from strike to strike.`}
        {...interaction.handlers}
      >
        {size.height > 0 && <StrokeCanvas strokes={strokes} size={size} />}
        <AxisLabels axis={axis} />
        <Crosshair axis={axis} />
        <LevelLabels
          levels={shown}
          axis={axis}
          isNarrow={isNarrow}
          onGo={(level) => moveAxisTo(level.price, strikes.spot_price)}
        />
        {before && <PresenceLabels strikes={strikes} before={before} axis={axis} />}
      </div>
      <ExtentAxis left={left} right={right} extent={extent} title={`${measure}, ${MEASURE_UNITS[measure]}`} />
      <LadderLegend isSplit={measure === 'gamma'} isCompared={before !== undefined} />
      {interaction.spoken}
    </div>
  );
}

/** Returns the ladder rows of a measure. Only gamma is split into calls and puts. */
export function ladderRows(strikes: Strikes, measure: Measure): LadderRows {
  if (measure === 'gamma') return { strike: strikes.strike, calls: strikes.call_gex, puts: strikes.put_gex };
  return { strike: strikes.strike, calls: strikes[NET[measure]], puts: null };
}

const NET = { gamma: 'net_gex', delta: 'net_dex', vanna: 'net_vex', charm: 'net_cex' } as const;

/** The unit of each measure, for headings. */
export const MEASURE_UNITS: Readonly<Record<Measure, string>> = {
  gamma: '$ per 1 % move',
  delta: '$',
  vanna: '$ per vol point',
  charm: '$ over the coming day',
};

/** Returns a text with the unit of the ladder, the sides on which calls and puts are drawn, and the number of strikes per row of pixels. */
export function ladderUnit(strikes: Strikes, measure: Measure, perRow: number): string {
  const sides =
    measure !== 'gamma'
      ? 'calls and puts together'
      : strikes.sign_convention.includes('assumed')
        ? 'calls right, puts left (assumed)'
        : 'side by signed flow; calls solid, puts hatched';
  return `${MEASURE_UNITS[measure]} · ${sides}${perRow > 1.05 ? ` · ${perRow.toFixed(1)} strikes a row` : ''}`;
}

export function visibleStrikesPerRow(strikes: Strikes, height: number): number {
  const { zoom, shift } = priceRange.value;
  return strikesPerRow(ladderRows(strikes, 'gamma'), priceAxis(strikes.spot_price, zoom, shift, height));
}

/** Returns one sentence with the main figures of the ladder, for screen readers. */
export function describeLadder(strikes: Strikes, levels: Levels, measure: Measure): string {
  const net = strikes[NET[measure]];
  const total = net.reduce((sum, each) => sum + each, 0);
  const at = (value: number) => strikeText(strikes.strike[net.indexOf(value)]);
  const flip = levels.flip_resolved
    ? `flip ${strikeText(Math.round(levels.gex_flip * 100) / 100)}, ${percent(100 * (levels.gex_flip / levels.spot_price - 1), 1)} from spot`
    : 'no flip within half of spot';
  return (
    `Net ${measure} ${amount(total)} ${MEASURE_UNITS[measure]}; most positive at ${at(Math.max(...net))}, ` +
    `most negative at ${at(Math.min(...net))}; ${flip}.`
  );
}

/** Returns the figures at a strike as text, for the panel and for screen readers. `before` are the strikes at moment A of a comparison. */
export function strikeReadout(strikes: Strikes, index: number, before?: Strikes): string {
  const at = strikes.strike[index]!;
  const then = before?.strike.indexOf(at) ?? -1;
  const was = before?.net_gex[then];
  const comparison = !before
    ? []
    : was === undefined
      ? ['new since A']
      : [`at A ${signedAmount(was)}`, `change ${signedAmount(strikes.net_gex[index]! - was)}`];
  return [
    `${strikeText(at)} (${percent(100 * (at / strikes.spot_price - 1), 1)})`,
    `calls ${signedAmount(strikes.call_gex[index])}`,
    `puts ${signedAmount(strikes.put_gex[index])}`,
    `net ${signedAmount(strikes.net_gex[index])}`,
    ...comparison,
    `OI ${amount(strikes.call_open_interest[index])} C, ${amount(strikes.put_open_interest[index])} P`,
    `volume ${amount(strikes.call_volume[index])} C, ${amount(strikes.put_volume[index])} P`,
  ].join(' · ');
}

/** Returns a text with the sums over the selected strikes. */
export function selectionReadout(strikes: Strikes, [from, to]: readonly [number, number]): string {
  let [calls, puts, n] = [0, 0, 0];
  for (const [i, each] of strikes.strike.entries()) {
    if (each < from || each > to) continue;
    calls += strikes.call_gex[i]!;
    puts += strikes.put_gex[i]!;
    n++;
  }
  return `${n} strikes ${strikeText(from)} to ${strikeText(to)} · calls ${signedAmount(calls)} · puts ${signedAmount(puts)} · net ${signedAmount(calls + puts)}`;
}

/** Returns the ladder as a table. In a comparison, the table also has the strikes that are gone, net gamma at moment A, and the change. */
export function ladderTable(strikes: Strikes, before?: Strikes): PanelTable {
  const { columns, rows } = columnTable(strikes);
  if (!before) return { columns, rows };
  return {
    columns: [...columns, 'net_gex_before', 'net_gex_change', 'presence'],
    rows: strikeDifferences(strikes, before).map((row) => {
      const at = strikes.strike.indexOf(row.strike);
      const cells = columns.map((name, i) => (name === 'strike' ? row.strike : (rows[at]?.[i] ?? null)));
      return [...cells, row.before, row.change, row.presence ?? 'both'];
    }),
  };
}

/** Returns the pointer and keyboard handlers of the ladder, and the text that a screen reader announces. */
function useLadderCursor(
  strikes: Strikes,
  levels: readonly ChartLevel[],
  axis: PriceAxis,
  onExplain: (strike: number) => void,
) {
  const [spoken, speak] = useSpoken();
  const dragFrom = useRef<number | null>(null);
  const index = () => bisectCenter(strikes.strike, cursorPrice.value ?? strikes.spot_price);
  const moveTo = (to: number, isSelecting: boolean) => {
    const next = Math.max(0, Math.min(strikes.strike.length - 1, to));
    const at = strikes.strike[next]!;
    const anchor =
      selection.value && (selection.value[0] === strikes.strike[index()] ? selection.value[1] : selection.value[0]);
    selection.value = isSelecting ? ascending(anchor ?? strikes.strike[index()]!, at) : null;
    cursorPrice.value = at;
    if (!isWithin(axis, at)) {
      navigate({ shift: Math.round(10_000 * (at / strikes.spot_price - 1)) / 100 }, false);
    }
    speak(selection.value ? selectionReadout(strikes, selection.value) : strikeReadout(strikes, next));
  };
  const strikeAt = (event: MouseEvent) =>
    strikes.strike[bisectCenter(strikes.strike, axis.priceAt(pointWithin(event).y))]!;
  const prices = levels.map(({ price }) => price);
  const handlers = {
    onKeyDown: chartKeys(({ key, shiftKey }) => {
      const at = index();
      const last = strikes.strike.length - 1;
      const moves: Readonly<Record<string, number>> = {
        ArrowUp: at + 1,
        ArrowDown: at - 1,
        PageUp: at + 10,
        PageDown: at - 10,
        Home: last,
        End: 0,
        '.': nearestOf(prices, strikes, at, 1),
        ',': nearestOf(prices, strikes, at, -1),
      };
      const to = moves[key];
      // Shift extends the selection only if a named key such as an arrow is pressed, because some keyboards need Shift for a full stop.
      if (to !== undefined) moveTo(to, shiftKey && key.length > 1);
      else if (key === ' ') selection.value = [strikes.strike[at]!, strikes.strike[at]!];
      else if (key === 'Enter') onExplain(strikes.strike[at]!);
      else return false;
    }),
    onPointerMove(event: PointerEvent) {
      const at = strikeAt(event);
      cursorPrice.value = at;
      if (dragFrom.current !== null && dragFrom.current !== at) selection.value = ascending(dragFrom.current, at);
    },
    onPointerDown(event: PointerEvent) {
      const at = strikeAt(event);
      cursorPrice.value = at;
      if (event.pointerType === 'touch') return;
      dragFrom.current = at;
      selection.value = null;
    },
    onPointerUp() {
      dragFrom.current = null;
    },
    onPointerLeave(event: PointerEvent) {
      dragFrom.current = null;
      // After a touch ends, the cursor stays, so that its figures remain visible.
      if (event.pointerType !== 'touch') cursorPrice.value = null;
    },
    onDblClick(event: MouseEvent) {
      onExplain(strikeAt(event));
    },
    onWheel(event: WheelEvent) {
      // Without Ctrl, the mouse wheel scrolls the page.
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoomBy(event.deltaY > 0 ? 1.15 : 1 / 1.15);
    },
  };
  return { handlers, spoken };
}

/** Returns the index of the strike nearest to the next price in a direction. If there is no next price, returns the current index. */
function nearestOf(prices: readonly number[], { strike }: Strikes, at: number, direction: 1 | -1): number {
  const ahead = prices.map((price) => bisectCenter(strike, price)).filter((index) => direction * (index - at) > 0);
  return ahead.length === 0 ? at : direction > 0 ? Math.min(...ahead) : Math.max(...ahead);
}

function ascending(a: number, b: number): [number, number] {
  return a <= b ? [a, b] : [b, a];
}

function gridLine(axis: PriceAxis, price: number, left: number, right: number): Stroke {
  const y = Math.round(axis.y(price)) + 0.5;
  return { kind: 'line', x1: left, x2: right, y1: y, y2: y, tone: 'line', width: 1, dash: 'solid' };
}

function bandOf([from, to]: readonly [number, number], axis: PriceAxis, left: number, right: number): Stroke {
  const [top, bottom] = [axis.y(to) - 3, axis.y(from) + 3];
  return { kind: 'bar', x: left, y: top, width: right - left, height: bottom - top, tone: 'band', fill: 'solid' };
}

/** Height of the label of a new or gone strike, in pixels. */
const PRESENCE = 13;

/** Renders labels for the strikes that are new or gone. If several labels would overlap, one label with a count replaces them. */
function PresenceLabels({ strikes, before, axis }: { strikes: Strikes; before: Strikes; axis: PriceAxis }) {
  const rows = useMemo(() => strikeDifferences(strikes, before), [strikes, before]);
  return (
    <div class="presence-labels" aria-hidden="true">
      {presenceLabels(rows, axis, PRESENCE).map(({ presence, count: n, y }) => (
        <span key={`${presence} ${y}`} class="muted" data-label style={{ top: `${y}px` }}>
          {n > 1 ? `${n} ${presence}` : presence}
        </span>
      ))}
    </div>
  );
}

/** The samples of the legend: the name, and the lines of its sample with their tones and styles. */
const [SOLID, HATCHED, LINE] = [{ strokeWidth: 9 }, { strokeWidth: 9, strokeDasharray: '3 1.5' }, {}];
const BARS = [
  ['calls (+ −)', 'positive', 'negative', SOLID],
  ['puts (+ −)', 'positive', 'negative', HATCHED],
] as const;
const LINES = [
  ['walls', 'positive', 'negative', LINE],
  ['flip', 'text dashed', '', LINE],
  ['max pain', 'muted dotted', '', LINE],
  ['spot', 'text', '', { strokeWidth: 2 }],
] as const;

/** Renders the legend of the ladder: bars, the tick of the net exposure, and lines. */
function LadderLegend({ isSplit, isCompared }: { isSplit: boolean; isCompared: boolean }) {
  const bars = isSplit ? BARS : ([['calls and puts', 'positive', 'negative', SOLID]] as const);
  return (
    <p class="legend small" aria-hidden="true">
      {[...bars, ...LINES].map(([name, tone, second, style]) => (
        <span key={name}>
          <svg width={20} height={12} aria-hidden="true">
            <line class={`rule ${tone}`} style={style} x1={0} x2={second ? 9 : 20} y1={6} y2={6} />
            {second && <line class={`rule ${second}`} style={style} x1={11} x2={20} y1={6} y2={6} />}
          </svg>
          <span data-label>{name}</span>
        </span>
      ))}
      {isSplit && (
        <span>
          <svg width={6} height={12} aria-hidden="true">
            <line class="rule text" style={{ strokeWidth: 2 }} x1={3} x2={3} y1={1} y2={11} />
          </svg>
          <span data-label>net</span>
        </span>
      )}
      {isCompared && (
        <span>
          <svg width={20} height={12} aria-hidden="true">
            <rect class="rule text" fill="none" x={1} y={2} width={18} height={8} />
          </svg>
          <span data-label>at A</span>
        </span>
      )}
    </p>
  );
}

import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { themeVersion, useSize } from './canvas.tsx';
import { lonePoints } from './history-series.ts';
import { spacedTicks } from './price-axis.ts';
import { type Colors, colorsOf, type Tone } from './strokes.ts';
import { type TradingAxis, tradingTicks } from './trading-axis.ts';

/** A series of a plot. Lines and steps break at null. */
export interface PlotSeries {
  readonly name: string;
  readonly values: readonly (number | null)[];
  readonly kind: 'line' | 'step' | 'bars';
  readonly tone: Tone;
  readonly width: number;
  readonly dash: 'solid' | 'dashed';
}

/** Plots with one time axis. They share their cursor and their selection. */
export interface PlotGroup {
  readonly key: string;
  readonly plots: Set<uPlot>;
  /** The index into the rows of the plots under the cursor. */
  readonly cursor: Signal<number | null>;
}

export interface TimePlotProps {
  readonly name: string;
  readonly group: PlotGroup;
  readonly axis: TradingAxis;
  /** Positions of the rows on the axis, ascending. */
  readonly x: readonly number[];
  readonly series: readonly PlotSeries[];
  /** The part of the axis that the plot shows. */
  readonly domain: readonly [low: number, high: number];
  readonly range: readonly [low: number, high: number];
  /** Prints a value at the vertical axis. */
  readonly print: (value: number) => string;
  /** Whether the plot prints the times of the axis that it shares. */
  readonly hasTimes: boolean;
  /** Room for labels at the right edge, pixels. */
  readonly right: number;
  /** Positions with an upright line and a letter. */
  readonly marks: readonly { readonly at: number; readonly letter: 'A' | 'B'; readonly dash: 'solid' | 'dashed' }[];
  /** Called with the first and the last row of a selection. */
  readonly onSelect: (from: number, to: number) => void;
  /** Returns labels that stand over the plot, whose height is given, pixels. */
  readonly labels?: (height: number) => ComponentChildren;
}

/** Room for the values at the left edge, for the times below, and above the plot, pixels. */
const ROOM = { values: 50, times: 22, top: 6 } as const;
/** The least distance of two times at the axis, and of two values, pixels. */
const APART = { times: 58, values: 22 } as const;
const DASHES = { solid: [], dashed: [7, 5] } as const;
/** A drag shorter than this is a press, pixels. */
const DRAG_MIN = 6;

/** Lines, steps and bars over New York time, drawn by uPlot with the colours of the page. */
export function TimePlot(props: TimePlotProps) {
  const { name, group, x, series, hasTimes, right } = props;
  const { ref, size } = useSize<HTMLDivElement>();
  const plot = useRef<uPlot>(undefined);
  // uPlot asks its options again with each drawing, so they read the newest properties.
  const newest = useRef(props);
  newest.current = props;
  const colors = useRef<Colors>(undefined);
  const version = themeVersion.value;
  const shape = series.map(({ kind, tone, dash }) => `${kind} ${tone} ${dash}`).join();

  useLayoutEffect(() => {
    if (size.width === 0 || size.height === 0) return;
    colors.current = colorsOf(ref.current!);
    const data = [x, ...series.map(({ values }) => values)] as unknown as uPlot.AlignedData;
    plot.current = new uPlot(optionsOf(newest, colors, ref.current!, size), data, ref.current!);
    group.plots.add(plot.current);
    return () => {
      group.plots.delete(plot.current!);
      plot.current!.destroy();
      plot.current = undefined;
    };
  }, [size, shape, right, hasTimes, group]);

  useEffect(() => {
    plot.current?.setData([x, ...series.map(({ values }) => values)] as unknown as uPlot.AlignedData);
    plot.current?.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  }, [x, series, ...props.domain, ...props.range]);

  useEffect(() => {
    colors.current = colorsOf(ref.current!);
    plot.current?.redraw(true, true);
  }, [version, props.marks]);

  const inner = size.height - ROOM.top - (hasTimes ? ROOM.times : ROOM.top);
  return (
    <div ref={ref} class="time-plot" data-plot={name} aria-hidden="true">
      {inner > 0 && (
        <div class="time-labels" style={{ top: `${ROOM.top}px`, height: `${inner}px` }}>
          {props.labels?.(inner)}
        </div>
      )}
    </div>
  );
}

type Live<Value> = { readonly current: Value };

function optionsOf(
  newest: Live<TimePlotProps>,
  colors: Live<Colors | undefined>,
  element: HTMLElement,
  size: { width: number; height: number },
): uPlot.Options {
  const { group, hasTimes, right, series } = newest.current;
  const { fontSize, fontFamily } = getComputedStyle(element);
  const color = (tone: Tone) => () => colors.current![tone];
  const axis: uPlot.Axis = {
    stroke: color('muted'),
    font: `${fontSize} ${fontFamily}`,
    grid: { stroke: color('line'), width: 1 },
    ticks: { show: false },
  };
  let labels = new Map<number, string>();
  return {
    ...size,
    legend: { show: false },
    padding: [ROOM.top, right, hasTimes ? 0 : ROOM.top, 0],
    scales: {
      x: { time: false, range: () => [newest.current.domain[0], newest.current.domain[1]] },
      y: { range: () => [newest.current.range[0], newest.current.range[1]] },
    },
    axes: [
      {
        ...axis,
        size: hasTimes ? ROOM.times : 0,
        gap: 4,
        splits: (plot, _, from, to) => {
          const ticks = tradingTicks(newest.current.axis, from, to, (plot.width - ROOM.values - right) / APART.times);
          labels = new Map(ticks.map(({ at, label }) => [at, label]));
          return [...labels.keys()];
        },
        values: (_, splits) => splits.map((at) => (hasTimes ? labels.get(at)! : '')),
      },
      {
        ...axis,
        size: ROOM.values,
        gap: 5,
        splits: (plot, _, low, high) => spacedTicks(low, high, plot.over.clientHeight || plot.height, APART.values),
        values: (_, splits) => splits.map((value) => newest.current.print(value)),
      },
    ],
    series: [{}, ...series.map((each, i) => seriesOf(each, () => newest.current.series[i]!.values, color(each.tone)))],
    cursor: {
      y: false,
      sync: { key: group.key, scales: ['x', null] },
      drag: { x: true, y: false, setScale: false, dist: DRAG_MIN },
      points: { show: series.some(({ kind }) => kind !== 'bars'), size: 6 },
      // The cursor stands on rows, never between them and never in a gap.
      move: (plot, left, top) => {
        const row = left < 0 ? null : nearestFilled(newest.current, plot.posToIdx(left));
        return row === null ? [-10, -10] : [plot.valToPos(newest.current.x[row]!, 'x'), top];
      },
    },
    hooks: {
      drawClear: [(plot) => hatchHoles(plot, newest.current, colors.current!)],
      setCursor: [
        ({ cursor }) => {
          // Where the pointer leaves the plot, the cursor stays, so that the row can be acted on.
          if (typeof cursor.idx === 'number') group.cursor.value = cursor.idx;
        },
      ],
      setSelect: [
        ({ select, posToIdx }) => {
          if (select.width < DRAG_MIN) return;
          const [from, to] = [select.left, select.left + select.width].map((left) =>
            nearestFilled(newest.current, posToIdx(left)),
          );
          if (typeof from === 'number' && typeof to === 'number' && from < to) newest.current.onSelect(from, to);
        },
      ],
      draw: [(plot) => drawMarks(plot, newest.current, colors.current!)],
    },
  };
}

function seriesOf(
  { name, kind, width, dash }: PlotSeries,
  values: () => PlotSeries['values'],
  stroke: () => string,
): uPlot.Series {
  if (kind === 'bars') {
    return {
      label: name,
      fill: stroke,
      width: 0,
      points: { show: false },
      paths: uPlot.paths.bars!({ size: [0.7, 16, 1] }),
    };
  }
  return {
    label: name,
    stroke,
    width,
    dash: [...DASHES[dash]],
    // A step rises at the end of a gap. It would show at the edge of the gap if the gap did not end a pixel later.
    gaps: (_, _series, _from, _to, gaps) =>
      kind === 'step' ? gaps.map(([from, to]): [number, number] => [from, to + width * devicePixelRatio]) : gaps,
    paths: kind === 'step' ? uPlot.paths.stepped!({ align: 1 }) : uPlot.paths.linear!(),
    points: { show: true, size: 5, fill: stroke, filter: () => lonePoints(values()) },
  };
}

/** Returns the row nearest an index that has a value, or null if there is none. */
function nearestFilled({ series, x }: TimePlotProps, index: number): number | null {
  const isFilled = (i: number) => series.some(({ values }) => (values[i] ?? null) !== null);
  for (let step = 0; step < x.length; step++) {
    if (isFilled(index - step)) return index - step;
    if (isFilled(index + step)) return index + step;
  }
  return null;
}

/** Hatches the days without data between the first and the last row. */
function hatchHoles({ ctx, bbox, valToPos }: uPlot, { axis, x, domain }: TimePlotProps, colors: Colors): void {
  const step = 6 * devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = colors.line;
  ctx.lineWidth = devicePixelRatio;
  for (const { start, width, count } of axis.days) {
    const [low, high] = [Math.max(start, domain[0]), Math.min(start + width, domain[1])];
    if (count > 0 || low >= high || low < x[0]! || high > x.at(-1)!) continue;
    const [left, right] = [valToPos(low, 'x', true), valToPos(high, 'x', true)];
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, bbox.top, right - left, bbox.height);
    ctx.clip();
    ctx.beginPath();
    for (let at = left - bbox.height; at < right; at += step) {
      ctx.moveTo(at, bbox.top + bbox.height);
      ctx.lineTo(at + bbox.height, bbox.top);
    }
    ctx.stroke();
    ctx.restore();
  }
  ctx.restore();
}

function drawMarks({ ctx, bbox, valToPos }: uPlot, { range, domain, marks }: TimePlotProps, colors: Colors): void {
  const line = (x1: number, y1: number, x2: number, y2: number, dash: readonly number[], tone: Tone) => {
    ctx.save();
    ctx.strokeStyle = colors[tone];
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash(dash.map((each) => each * devicePixelRatio));
    ctx.beginPath();
    ctx.moveTo(x1, y1);
    ctx.lineTo(x2, y2);
    ctx.stroke();
    ctx.restore();
  };
  if (range[0] < 0 && range[1] > 0) {
    const zero = valToPos(0, 'y', true);
    line(bbox.left, zero, bbox.left + bbox.width, zero, DASHES.solid, 'muted');
  }
  ctx.fillStyle = colors.text;
  ctx.textAlign = 'right';
  for (const { at, letter, dash } of marks) {
    if (at < domain[0] || at > domain[1]) continue;
    const left = valToPos(at, 'x', true);
    line(left, bbox.top, left, bbox.top + bbox.height, DASHES[dash], 'text');
    ctx.fillText(letter, left - 4 * devicePixelRatio, bbox.top + 12 * devicePixelRatio);
  }
}

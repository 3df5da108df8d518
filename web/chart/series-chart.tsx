import { bisectCenter } from 'd3-array';
import { area, curveLinear, curveStepAfter, curveStepBefore, line } from 'd3-shape';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { CrosshairAt, XAxis } from './axis-labels.tsx';
import { useSize } from './canvas.tsx';
import type { AxisBetween } from './chart-axis.ts';
import { CURSOR_CHART, chartKeys, pointerCursor, pointWithin, useSpoken } from './chart-cursor.tsx';
import { linearScale, niceScale } from './linear-scale.ts';
import { spacedTicks } from './price-axis.ts';

type Values = readonly (number | null)[];

/** A list of values with one mark per value. For an unknown value (null), the chart draws no line and no mark. */
export interface ChartSeries {
  readonly name: string;
  /**
   * The mark of the series. `ranges` draws whiskers between `from` and `y`, and `band` draws the area between them. `steps` draws a
   * horizontal line that ends at the position of its value. `stairs` draws a horizontal line that starts at the position of its value.
   */
  readonly mark: 'line' | 'steps' | 'stairs' | 'dots' | 'diamonds' | 'bars' | 'ranges' | 'band';
  readonly y: Values;
  readonly from?: Values;
  /** Positions on the axis. Undefined if the series has the same positions as the chart. */
  readonly x?: readonly number[];
  /** Further class names, such as `dashed` or `faint`. */
  readonly class?: string;
}

export interface SeriesPlotProps {
  /** The positions at which the cursor can be, ascending. */
  readonly x: readonly number[];
  readonly axis: AxisBetween;
  /** The series. One that is not known, such as that of an earlier moment, may be undefined or false. */
  readonly series: readonly (ChartSeries | false | undefined)[];
  /** Returns the label of a value on the vertical axis. */
  format(value: number): string;
  /** The ends of the vertical axis. If undefined, the chart computes the ends from the values. */
  readonly range?: readonly [low: number, high: number];
  /** Returns the ticks for a height, if `range` has exactly this height because the charts beside the plot have the same axis. */
  priceTicks?(height: number): readonly number[];
  /** True if the vertical axis includes 0. Bars need this. */
  readonly hasZero?: boolean;
  /** A horizontal line with a name, such as spot. */
  readonly rule?: { readonly at: number; readonly name: string } | undefined;
  /** Shaded ranges of the horizontal axis, such as events, with class names. */
  readonly spans?: readonly (readonly [from: number, to: number, name?: string])[];
  /** A position with a mark on the horizontal axis, such as the forward. */
  readonly marker?: { readonly at: number; readonly name?: string } | undefined;
  /** Renders elements on top of the plot. `height` is the plot's height in pixels. */
  overlay?(x: (value: number) => number, y: (value: number) => number, height: number): ComponentChildren;
  /** False if another plot, below this plot, shows the labels of the horizontal axis. */
  readonly hasLabels?: boolean;
  readonly cursor: number | null;
  onCursor(index: number | null): void;
  onOpen?(index: number): void;
  /** The plot calls this function on a click. */
  onPick?(index: number): void;
}

/** Width of the value labels at the left edge, in pixels. */
const LEFT = 54;
const PAD = { right: 10, y: 9 } as const;
const TICK_GAP = 26;
const BAR = { least: 2, most: 14, share: 0.7 } as const;

/** Renders series on one pair of axes, with a cursor for the pointer. The surrounding `CursorFrame` handles the keyboard. */
export function SeriesPlot(props: SeriesPlotProps) {
  const {
    x,
    axis,
    format,
    range,
    priceTicks,
    hasZero,
    rule,
    spans = [],
    marker,
    overlay,
    hasLabels = true,
    cursor,
    onCursor,
    onOpen,
    onPick,
  } = props;
  const series = useMemo(() => props.series.filter((each) => !!each), [props.series]);
  const { ref, size } = useSize<HTMLDivElement>();
  const { width, height } = size;
  const across = axis(LEFT + PAD.right, width - PAD.right);
  const pixels = priceTicks ? ([height, 0] as const) : ([height - PAD.y, PAD.y] as const);
  const y = range ? linearScale(range, pixels) : niceScale(extentOf(series, hasZero ?? false, rule?.at), pixels, 4);
  const [low, high] = y.domain;
  const round = spacedTicks(low, high, height - 2 * PAD.y, TICK_GAP);
  // A low plot may have room for one round value only. Then its ends say more: the axis is extended to round values.
  const ticks =
    priceTicks?.(height).filter((tick) => Math.min(y(tick), height - y(tick)) > PAD.y) ??
    (round.length > 1 ? round : [low, high]);
  const texts = shortTexts(ticks.map((tick) => format(tick)));
  const at = x.map((each) => across.x(each));
  const nearest = (event: MouseEvent) => bisectCenter(at, pointWithin(event).x);
  // The marks are memoized, because the cursor moves often, and its moves do not change the marks.
  const drawn = useMemo(
    () =>
      series.map((each) => (
        <Marks key={each.name} series={each} at={each.x?.map((value) => across.x(value)) ?? at} y={y} />
      )),
    [series, axis, width, height, rule?.at],
  );
  const cursorAt = cursor === null ? undefined : at[cursor];
  const value = cursor === null ? undefined : valueAt(series, x[cursor]!, cursor);
  return (
    <>
      {series.length > 0 && <Legend series={series} />}
      <div
        ref={ref}
        class="plot"
        {...pointerCursor(nearest, onCursor)}
        onClick={(event) => onPick?.(nearest(event))}
        onDblClick={(event) => onOpen?.(nearest(event))}
      >
        {height > 0 && (
          <svg width={width} height={height} aria-hidden="true">
            {spans.map(([from, to, name]) => (
              <rect
                class={`span ${name ?? ''}`}
                x={across.x(from)}
                width={Math.max(2, across.x(to) - across.x(from))}
                y={0}
                height={height}
              />
            ))}
            {[...new Set(hasZero ? [...ticks, 0] : ticks)].map((tick) => (
              <line class={tick === 0 ? 'zero' : 'grid-line'} x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} />
            ))}
            {marker && <line class="zero" x1={across.x(marker.at)} x2={across.x(marker.at)} y1={0} y2={height} />}
            {rule && <line class="rule text" x1={LEFT} x2={width} y1={y(rule.at)} y2={y(rule.at)} />}
            {drawn}
          </svg>
        )}
        <div class="y-axis small" aria-hidden="true">
          {ticks.map((tick, i) => (
            <span data-label key={tick} style={{ top: `${y(tick)}px` }}>
              {texts[i]}
            </span>
          ))}
        </div>
        {rule && height > 0 && (
          <span data-label class="rule-name" aria-hidden="true" style={{ top: `${y(rule.at)}px` }}>
            {rule.name}
          </span>
        )}
        {marker?.name && (
          <span data-label class="rule-name top" aria-hidden="true" style={{ left: `${across.x(marker.at)}px` }}>
            {marker.name}
          </span>
        )}
        {height > 0 && overlay?.(across.x, y, height)}
        {cursorAt !== undefined && <div class="cursor-line" style={{ left: `${cursorAt}px` }} />}
        {value !== undefined && <CrosshairAt y={y(value)} height={height} text={format(value)} />}
      </div>
      {hasLabels && <XAxis labels={across.labels} title={across.title} center={(LEFT + width) / 2} />}
    </>
  );
}

/** Returns the value of the plot's main series at the cursor: of the last one that is not in the background. Undefined if it is unknown. */
function valueAt(series: readonly ChartSeries[], x: number, cursor: number): number | undefined {
  const isMain = ({ mark, class: name = '' }: ChartSeries) =>
    mark !== 'ranges' && mark !== 'band' && !/faint|before|after|dashed|series-/.test(name);
  const values = series.filter(isMain).map((each) => each.y[each.x ? each.x.indexOf(x) : cursor]);
  return values.findLast((each): each is number => typeof each === 'number');
}

/** Removes the decimals from the texts of an axis if the decimals are zero in all texts. */
function shortTexts(texts: readonly string[]): readonly string[] {
  const decimals = /\.0+(?!\d)/;
  return texts.every((each) => decimals.test(each)) ? texts.map((each) => each.replace(decimals, '')) : texts;
}

/** Returns the lower and upper end of the vertical axis. */
function extentOf(series: readonly ChartSeries[], hasZero: boolean, rule: number | undefined): [number, number] {
  const values = series.flatMap(({ y, from = [] }) => [...y, ...from]).filter((each) => each !== null);
  if (hasZero) values.push(0);
  if (rule !== undefined) values.push(rule);
  if (values.length === 0) return [0, 1];
  let [low, high] = [values[0]!, values[0]!];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low < high ? [low, high] : [low - (Math.abs(low) || 1) / 10, high + (Math.abs(high) || 1) / 10];
}

interface MarksProps {
  readonly series: ChartSeries;
  readonly at: readonly number[];
  y(value: number): number;
}

function Marks({ series: { mark, y: values, from = [], class: name = '' }, at, y }: MarksProps) {
  const rows = values.map((value, i) => ({ x: at[i]!, to: value, from: from[i] ?? null }));
  const known = rows.filter((row): row is { x: number; to: number; from: number | null } => row.to !== null);
  const curve = CURVES[mark as keyof typeof CURVES];
  if (curve) {
    const path = line<(typeof rows)[number]>(
      ({ x }) => x,
      ({ to }) => y(to!),
    )
      .defined(({ to }) => to !== null)
      .curve(curve);
    // A line needs two neighbours: a value without one is a dot.
    const alone = known.filter((row) => {
      const i = rows.indexOf(row);
      return rows[i - 1]?.to == null && rows[i + 1]?.to == null;
    });
    return (
      <>
        <path class={`curve ${name}`} d={path(rows) ?? ''} />
        {alone.length > 0 && (
          <path class={`point ${name}`} d={alone.map(({ x, to }) => POINTS.dots(x, y(to))).join('')} />
        )}
      </>
    );
  }
  if (mark === 'band') {
    const path = area<(typeof rows)[number]>(
      ({ x }) => x,
      ({ from: low }) => y(low!),
      ({ to }) => y(to!),
    ).defined((row) => row.to !== null && row.from !== null);
    return <path class={`band ${name}`} d={path(rows) ?? ''} />;
  }
  if (mark === 'bars') {
    const gaps = at.slice(1).map((each, i) => each - at[i]!);
    const width = Math.max(BAR.least, Math.min(BAR.most, BAR.share * Math.min(...gaps, 20)));
    return (
      <g class={`bars ${name}`}>
        {known.map(({ x, to }) => (
          <rect x={x - width / 2} width={width} y={Math.min(y(0), y(to))} height={Math.abs(y(0) - y(to))} />
        ))}
      </g>
    );
  }
  if (mark === 'ranges') {
    const path = known
      .filter((row) => row.from !== null)
      .map(({ x, to, from: low }) => `M${x - 3} ${y(to)}h6m-3 0V${y(low!)}m-3 0h6`);
    return <path class={`curve ${name}`} d={path.join('')} />;
  }
  return (
    <path
      class={`point ${name}`}
      d={known.map(({ x, to }) => POINTS[mark as keyof typeof POINTS](x, y(to))).join('')}
    />
  );
}

const CURVES = { line: curveLinear, steps: curveStepBefore, stairs: curveStepAfter } as const;

const POINTS = {
  dots: (x: number, y: number) => `M${x - 3} ${y}a3 3 0 1 0 6 0a3 3 0 1 0-6 0`,
  diamonds: (x: number, y: number) => `M${x - 4.5} ${y}l4.5-4.5l4.5 4.5l-4.5 4.5z`,
} as const;

/** Renders the legend: the name of each series with a sample of its mark. */
export function Legend({ series }: { series: readonly ChartSeries[] }) {
  return (
    <p class="legend small" aria-hidden="true">
      {series.map((each) => {
        const at = SAMPLES[each.mark] ?? [10];
        return (
          <span key={each.name}>
            <svg width={20} height={12} aria-hidden="true">
              <Marks
                series={{ ...each, y: at.map(() => 10), from: at.map(() => 2) }}
                at={at}
                y={(value) => (each.from || each.mark === 'bars' ? 12 - value : 6)}
              />
            </svg>
            <span data-label>{each.name}</span>
          </span>
        );
      })}
    </p>
  );
}

/** Horizontal positions of the points in the legend's sample marks. */
const SAMPLES: Partial<Record<ChartSeries['mark'], number[]>> = {
  line: [0, 20],
  steps: [0, 20],
  stairs: [0, 20],
  band: [0, 20],
};

interface CursorFrameProps extends Pick<SeriesPlotProps, 'cursor' | 'onCursor' | 'onOpen'> {
  /** The id of the chart, which tests use. */
  readonly id: string;
  /** A sentence with the main figures of the chart, for screen readers. */
  readonly label: string;
  readonly count: number;
  /** Further class names of the chart. */
  readonly class?: string;
  /** Returns the figures at an index, for screen readers. */
  readout(index: number): string;
  readonly children: ComponentChildren;
}

/** Renders the focusable frame of a chart. Arrow keys move the cursor in all plots. A live region announces the figures. */
export function CursorFrame(props: CursorFrameProps) {
  const { id, label, count, cursor, onCursor, onOpen, readout, children } = props;
  const [spoken, speak] = useSpoken();
  const onKeyDown = chartKeys(({ key }) => {
    const step = STEPS[key];
    if (step !== undefined && count > 0) {
      const from = cursor ?? (step > 0 ? -1 : count);
      const next = Math.max(0, Math.min(count - 1, from + step));
      onCursor(next);
      speak(readout(next));
    } else if (key === 'Enter' && cursor !== null && onOpen) onOpen(cursor);
    else return false;
  });
  return (
    <div
      class={`chart series ${props.class ?? ''}`}
      data-chart={id}
      {...CURSOR_CHART}
      aria-label={label}
      onKeyDown={onKeyDown}
      onBlur={() => onCursor(null)}
    >
      {children}
      {spoken}
    </div>
  );
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowRight: 1,
  ArrowLeft: -1,
  PageDown: 10,
  PageUp: -10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

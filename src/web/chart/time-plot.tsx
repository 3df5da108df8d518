import type { Signal } from '@preact/signals';
import { scaleLinear } from 'd3-scale';
import { curveLinear, curveStepAfter, line } from 'd3-shape';
import type { ComponentChildren } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { useSize } from './canvas.tsx';
import { lonePoints } from './history-series.ts';
import { spacedTicks } from './price-axis.ts';
import type { Tone } from './strokes.ts';
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

/** What plots with one time axis share, as indexes into their rows. */
export interface PlotGroup {
  readonly cursor: Signal<number | null>;
  readonly selected: Signal<readonly [from: number, to: number] | null>;
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
/** Width of a bar: a share of the distance of two rows, at most so many pixels. */
const BAR = { share: 0.7, most: 16 } as const;

/** Lines, steps and bars over New York time. The plots of a group share their cursor and their selection. */
export function TimePlot(props: TimePlotProps) {
  const { name, group, x, axis, domain, range, hasTimes, right, marks, print } = props;
  const { ref, size } = useSize<HTMLDivElement>();
  const drag = useRef<number | null>(null);
  const [top, bottom] = [ROOM.top, size.height - (hasTimes ? ROOM.times : ROOM.top)];
  const [left, end] = [ROOM.values, size.width - right];
  const at = useMemo(() => scaleLinear(domain, [left, end]), [...domain, end]);
  const y = useMemo(() => scaleLinear(range, [bottom, top]), [...range, bottom]);
  const drawn = useMemo(() => <Drawing {...props} at={at} y={y} />, [props.series, x, at, y]);
  const rowAt = (event: PointerEvent) =>
    nearestFilled(props, at.invert(event.clientX - ref.current!.getBoundingClientRect().left));
  const selected = group.selected.value;
  const cursor = group.cursor.value;
  return (
    <div
      ref={ref}
      class="time-plot"
      data-plot={name}
      aria-hidden="true"
      onPointerDown={(event) => {
        drag.current = event.pointerType === 'touch' ? null : rowAt(event);
      }}
      onPointerMove={(event) => {
        const row = rowAt(event);
        if (row === null) return;
        group.cursor.value = row;
        if (drag.current !== null && drag.current !== row) group.selected.value = ascending(drag.current, row);
      }}
      onPointerUp={() => {
        const rows = drag.current === null ? null : group.selected.peek();
        drag.current = null;
        group.selected.value = null;
        if (rows) props.onSelect(...rows);
      }}
      onPointerLeave={() => {
        if (drag.current !== null) group.selected.value = null;
        drag.current = null;
      }}
    >
      {bottom > top && end > left && (
        <>
          <svg width={size.width} height={size.height} aria-hidden="true">
            {spacedTicks(range[0], range[1], bottom - top, APART.values).map((value) => (
              <g key={value}>
                <line class={value === 0 ? 'zero' : 'grid-line'} x1={left} x2={end} y1={y(value)} y2={y(value)} />
                <text x={left - 6} y={y(value) + 4} text-anchor="end">
                  {print(value)}
                </text>
              </g>
            ))}
            {tradingTicks(axis, domain[0], domain[1], (end - left) / APART.times).map(({ at: place, label }) => (
              <g key={place}>
                <line class="grid-line" x1={at(place)} x2={at(place)} y1={top} y2={bottom} />
                {hasTimes && (
                  <text x={at(place)} y={bottom + 15} text-anchor="middle">
                    {label}
                  </text>
                )}
              </g>
            ))}
            {drawn}
            {selected && (
              <rect
                class="selected"
                x={at(x[selected[0]]!)}
                width={at(x[selected[1]]!) - at(x[selected[0]]!)}
                y={top}
                height={bottom - top}
              />
            )}
            {marks
              .filter(({ at: place }) => place >= domain[0] && place <= domain[1])
              .map(({ at: place, letter, dash }) => (
                <g key={letter} class="mark-line">
                  <line class={`rule text ${dash}`} x1={at(place)} x2={at(place)} y1={top} y2={bottom} />
                  <text x={at(place) - 4} y={top + 11} text-anchor="end">
                    {letter}
                  </text>
                </g>
              ))}
            {cursor !== null && x[cursor] !== undefined && (
              <line class="rule muted" x1={at(x[cursor])} x2={at(x[cursor])} y1={top} y2={bottom} />
            )}
          </svg>
          <div class="time-labels" style={{ top: `${top}px`, height: `${bottom - top}px` }}>
            {props.labels?.(bottom - top)}
          </div>
        </>
      )}
    </div>
  );
}

type Scale = (value: number) => number;

/** The holes of the axis, hatched, and the series. */
function Drawing({ name, x, axis, series, domain, range, at, y }: TimePlotProps & { at: Scale; y: Scale }) {
  const [top, bottom] = [y(range[1]), y(range[0])];
  const zero = y(Math.max(range[0], Math.min(range[1], 0)));
  const gap = x.length > 1 ? (at(x.at(-1)!) - at(x[0]!)) / (x.length - 1) : BAR.most;
  const bar = Math.max(1, Math.min(BAR.most, gap * BAR.share));
  return (
    <>
      <clipPath id={`clip-${name}`}>
        <rect x={at(domain[0])} width={at(domain[1]) - at(domain[0])} y={top} height={bottom - top} />
      </clipPath>
      <pattern id={`hole-${name}`} width={6} height={6} patternUnits="userSpaceOnUse">
        <path class="grid-line" d="M0 6L6 0" />
      </pattern>
      <g clip-path={`url(#clip-${name})`}>
        {axis.days
          .filter(({ start, width, count }) => count === 0 && start + width > (x[0] ?? 0) && start < (x.at(-1) ?? 0))
          .map(({ date, start, width }) => (
            <rect
              key={date}
              x={at(start)}
              width={at(start + width) - at(start)}
              y={top}
              height={bottom - top}
              fill={`url(#hole-${name})`}
            />
          ))}
        {series.map(({ name: key, values, kind, tone, width, dash }) =>
          kind === 'bars' ? (
            <path
              key={key}
              class={`bars ${tone}`}
              d={values
                .map((value, i) =>
                  value === null ? '' : `M${at(x[i]!) - bar / 2} ${zero}V${y(value)}h${bar}V${zero}z`,
                )
                .join('')}
            />
          ) : (
            <g key={key} class={tone}>
              <path
                class={`plot-line ${dash}`}
                stroke-width={width}
                d={
                  line<number | null>(
                    (_, i) => at(x[i]!),
                    (value) => y(value!),
                  )
                    .defined((value) => value !== null)
                    .curve(kind === 'step' ? curveStepAfter : curveLinear)(values as (number | null)[]) ?? ''
                }
              />
              {lonePoints(values).map((i) => (
                <circle key={i} cx={at(x[i]!)} cy={y(values[i]!)} r={2.5} />
              ))}
            </g>
          ),
        )}
      </g>
    </>
  );
}

/** Returns the row with a value nearest a position on the axis, or null if there is none. */
function nearestFilled({ series, x }: TimePlotProps, position: number): number | null {
  let nearest: number | null = null;
  for (let i = 0; i < x.length; i++) {
    const isNearer = nearest === null || Math.abs(x[i]! - position) < Math.abs(x[nearest]! - position);
    if (isNearer && series.some(({ values }) => (values[i] ?? null) !== null)) nearest = i;
  }
  return nearest;
}

function ascending(a: number, b: number): readonly [number, number] {
  return a < b ? [a, b] : [b, a];
}

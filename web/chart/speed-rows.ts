import type { DocumentedSpeed, KernelTimes } from '../data/documented-speed.ts';
import { countText, plain } from '../page-format.ts';
import type { BenchRun } from '../state/bench-run.ts';
import type { PanelTable } from '../state/panels.ts';

/** Where a time was measured. */
export const SPEED_SOURCES = {
  browser: 'this browser',
  bench: 'zomma bench',
  documented: 'documented machine',
} as const;
export type SpeedSource = keyof typeof SPEED_SOURCES;

export interface SpeedBar {
  readonly source: SpeedSource;
  /** Nanoseconds per unit: the median, and the quartiles if the page has measured them. */
  readonly ns: number;
  readonly spread: readonly [low: number, high: number] | null;
}

/** The times of one kernel. They are comparable with each other, but not with those of another kernel. */
export interface SpeedRow {
  readonly kernel: string;
  readonly unit: string;
  readonly rounds: number;
  /** The browser's bar is the first. */
  readonly bars: readonly [SpeedBar, ...SpeedBar[]];
}

/** Puts the times of the sources side by side. A source without a time of a kernel has no bar there. */
export function speedRows(
  times: BenchRun['times'],
  bench: KernelTimes | undefined,
  documented: DocumentedSpeed | undefined,
): SpeedRow[] {
  return times.map(({ kernel, unit, ns, spread, n }) => {
    const named = (source: SpeedSource, known: number | undefined): SpeedBar[] =>
      known === undefined ? [] : [{ source, ns: known, spread: null }];
    return {
      kernel,
      unit,
      rounds: n,
      bars: [
        { source: 'browser', ns, spread },
        ...named('bench', bench?.[kernel]),
        ...named('documented', documented?.times[kernel]),
      ],
    };
  });
}

/** Nanoseconds with three digits: `0.31 ns`. */
export function nanoseconds(ns: number): string {
  return ns >= 1000 ? `${countText(ns)} ns` : `${plain(ns, 3)} ns`;
}

/** One sentence for each kernel, with the times of all sources. */
export function describeSpeed(rows: readonly SpeedRow[]): string {
  return rows
    .map(
      ({ kernel, unit, bars }) =>
        `${kernel}, per ${unit}: ${bars.map(({ source, ns }) => `${SPEED_SOURCES[source]} ${nanoseconds(ns)}`).join(', ')}.`,
    )
    .join(' ');
}

/** The figures of the chart. Times have three digits, because more are noise. */
export function speedTable(rows: readonly SpeedRow[]): PanelTable {
  const digits = (value: number | undefined) => (value === undefined ? null : Number(value.toPrecision(3)));
  const others = (['bench', 'documented'] as const).filter((source) =>
    rows.some(({ bars }) => bars.some((bar) => bar.source === source)),
  );
  return {
    columns: [
      'kernel',
      'browser ns',
      'from',
      'to',
      'rounds',
      'million/s',
      ...others.map((source) => `${SPEED_SOURCES[source]} ns`),
      'unit',
    ],
    rows: rows.map(({ kernel, unit, rounds, bars: [{ ns, spread }, ...bars] }) => [
      kernel,
      digits(ns),
      digits(spread?.[0]),
      digits(spread?.[1]),
      rounds,
      digits(1000 / ns),
      ...others.map((source) => digits(bars.find((bar) => bar.source === source)?.ns)),
      unit,
    ]),
  };
}

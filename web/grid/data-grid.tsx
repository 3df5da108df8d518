import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { signedAmount, signTone } from '../page-format.ts';
import type { PanelTable } from '../state/panels.ts';
import { copy } from '../state/ui.ts';

type Value = string | number | null;

export interface GridColumn<Row> {
  readonly id: string;
  readonly title: string;
  /** Returns the value of the cell. Rows are sorted by this value unless the column has `rank`. */
  value(row: Row): Value;
  /** Returns another value by which the rows are sorted, for example the size of a change. */
  rank?(row: Row): Value;
  /** Returns the text of the cell. */
  text(row: Row): string;
  /** Draws the cell in place of its text. */
  render?(row: Row): ComponentChildren;
  readonly isNumber?: boolean;
  /** Minimum width of the column, in pixels. */
  readonly width?: number;
  /** Returns CSS class names for a cell, for example `positive`. */
  tone?(row: Row): string;
}

export interface GridProps<Row> {
  readonly label: string;
  readonly columns: readonly GridColumn<Row>[];
  readonly rows: readonly Row[];
  /** The initial sort order. A click on a column heading changes the order. */
  readonly initialSort?: { readonly column: string; readonly isDescending: boolean };
  readonly onOpen?: (row: Row) => void;
  /** True if a single click opens a row. If false, a click moves the focus, and a double click opens the row. */
  readonly opensOnPress?: boolean;
  /** True if the grid has an input field that filters the rows. */
  readonly hasFilter?: boolean;
  /** Returns true for the row that is initially in the middle of the viewport. If undefined, the grid starts at the first row. */
  startAt?(row: Row): boolean;
}

/** Returns a function that creates a column for a field of the rows. If `print` is undefined, the cell shows the value unchanged. */
export function fieldColumns<Row extends object>() {
  return <Id extends Extract<keyof Row, string>>(
    id: Id,
    title: string,
    width: number,
    print: (value: Row[Id]) => string = String,
    isNumber = false,
  ): GridColumn<Row> => ({
    ...{ id, title, width, isNumber },
    value: (row) => row[id] as Value,
    text: (row) => print(row[id]),
  });
}

/** Returns a column of numbers. If `isSigned` is true, the colour of a cell shows the sign of its value. */
export function figureColumn<Row>(
  id: string,
  title: string,
  value: (row: Row) => number | null,
  print: (value: number | null) => string,
  isSigned = print === signedAmount,
): GridColumn<Row> {
  const column = { id, title, isNumber: true, value, text: (row: Row) => print(value(row)) };
  return isSigned ? { ...column, tone: (row) => signTone(value(row) ?? 0) } : column;
}

/** Returns the values of a grid as a table for the CSV export. */
export function gridTable<Row>(columns: readonly GridColumn<Row>[], rows: readonly Row[]): PanelTable {
  return { columns: columns.map(({ id }) => id), rows: rows.map((row) => columns.map(({ value }) => value(row))) };
}

const OVERSCAN = 6;
/** The column widths in pixels are valid for this font size, in pixels. */
const REM = 13;
/** Width of a wide letter, in pixels: a text that may be cut has a tooltip. */
const LETTER = 8;

/**
 * Renders a grid of any number of rows. Only the visible rows are in the document. The grid follows the ARIA grid pattern: one cell has the
 * focus, and the arrow keys move the focus. A click on a column heading sorts the rows. Unknown values are always last, in ascending and in
 * descending order.
 */
export function DataGrid<Row>(props: GridProps<Row>) {
  const { label, columns, rows, initialSort, onOpen, opensOnPress, hasFilter, startAt } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [sort, setSort] = useState(initialSort);
  const [filter, setFilter] = useState('');
  const [cell, setCell] = useState({ row: 0, column: 0 });
  const [, redraw] = useState(0);
  const hasFocus = useRef(false);
  const shown = useMemo(
    () => sortedRows(filteredRows(rows, columns, filter), columns, sort),
    [rows, columns, filter, sort],
  );

  /** Height of a row in pixels: two lines of text. The style sheet sets the same height. */
  const rowHeight = 2 * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  const virtualizer = useRef<Virtualizer<HTMLDivElement, HTMLDivElement>>(undefined);
  const options = {
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw((n) => n + 1),
  };
  virtualizer.current ??= new Virtualizer(options);
  const grid = virtualizer.current;
  grid.setOptions(options);
  useLayoutEffect(() => grid._didMount(), [grid]);
  useLayoutEffect(() => grid._willUpdate());
  useLayoutEffect(() => {
    const row = startAt ? shown.findIndex(startAt) : -1;
    if (row < 0) return;
    setCell({ row, column: 0 });
    // The first row is visible in full: its top is at the end of the heading.
    const rows = Math.round(row + 1 - scroller.current!.clientHeight / 2 / rowHeight);
    scroller.current!.scrollTop = rows * rowHeight;
  }, []);

  const focused = { row: Math.min(cell.row, shown.length - 1), column: cell.column };
  useEffect(() => {
    if (!hasFocus.current) return;
    scroller.current!.querySelector<HTMLElement>('[tabindex="0"]')?.focus({ preventScroll: true });
  });

  const move = (row: number, column: number) => {
    const next = {
      row: Math.max(-1, Math.min(shown.length - 1, row)),
      column: Math.max(0, Math.min(columns.length - 1, column)),
    };
    setCell(next);
    if (next.row >= 0) grid.scrollToIndex(next.row, { align: 'auto' });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { row, column } = focused;
    const page = Math.max(1, Math.floor((scroller.current!.clientHeight - rowHeight) / rowHeight) - 1);
    const [last, right] = [shown.length - 1, columns.length - 1];
    const moves: Readonly<Record<string, readonly [row: number, column: number]>> = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      PageUp: [row - page, column],
      PageDown: [row + page, column],
      Home: [event.ctrlKey ? 0 : row, 0],
      End: [event.ctrlKey ? last : row, right],
    };
    const to = moves[event.key];
    const current = shown[row];
    if (to) move(...to);
    else if (event.key === 'Enter' && row < 0) sortBy(columns[column]!.id);
    else if (current === undefined) return;
    else if (event.key === 'Enter') onOpen?.(current);
    else if (event.key === 'c' && (event.ctrlKey || event.metaKey) && String(getSelection()) === '') {
      void copy(columns.map((each) => each.text(current)).join('\t'), 'one row');
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const sortBy = (column: string) =>
    setSort((known) => ({ column, isDescending: known?.column === column ? !known.isDescending : true }));

  const widths = columns.map(({ isNumber, width }) => width ?? (isNumber ? 86 : 96));
  const rem = (pixels: number) => `${pixels / REM}rem`;
  // All rows have the same width, so that the columns line up.
  const line = {
    gridTemplateColumns: widths.map((width) => `minmax(${rem(width)}, ${width}fr)`).join(' '),
    width: `max(100%, ${rem(widths.reduce((sum, each) => sum + each, 0))})`,
  };
  return (
    <div class="grid-box">
      {hasFilter && (
        <label class="grid-filter row inset muted">
          Filter
          <input type="search" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} data-filter />
          <span>{shown.length === rows.length ? `${rows.length} rows` : `${shown.length} of ${rows.length} rows`}</span>
        </label>
      )}
      <div
        ref={scroller}
        class={`grid ${opensOnPress ? 'opens-on-press' : ''}`}
        role="grid"
        aria-label={label}
        aria-rowcount={shown.length + 1}
        aria-colcount={columns.length}
        onKeyDown={onKeyDown}
        onFocusCapture={() => (hasFocus.current = true)}
        onBlurCapture={() => (hasFocus.current = false)}
      >
        <div class="grid-head muted" role="row" aria-rowindex={1} style={line}>
          {columns.map(({ id, title, isNumber }, column) => {
            const isSorted = sort?.column === id;
            return (
              <div
                role="columnheader"
                data-column={id}
                aria-sort={isSorted ? (sort!.isDescending ? 'descending' : 'ascending') : 'none'}
                tabIndex={focused.row < 0 && focused.column === column ? 0 : -1}
                class={`clip ${isNumber ? 'number' : ''}`}
                onClick={() => {
                  setCell({ row: -1, column });
                  sortBy(id);
                }}
              >
                {title}
                {isSorted && <span aria-hidden="true">{sort!.isDescending ? ' ▾' : ' ▴'}</span>}
              </div>
            );
          })}
        </div>
        <div class="grid-body" role="rowgroup" style={{ height: `${grid.getTotalSize()}px` }}>
          {grid.getVirtualItems().map(({ index, start }) => {
            const row = shown[index];
            if (row === undefined) return null;
            return (
              <div
                key={index}
                class={`grid-row${focused.row === index ? ' current' : ''}`}
                role="row"
                aria-rowindex={index + 2}
                style={{ ...line, transform: `translateY(${start}px)` }}
                onClick={() => opensOnPress && onOpen?.(row)}
                onDblClick={() => opensOnPress || onOpen?.(row)}
              >
                {columns.map((each, column) => (
                  <div
                    title={each.text(row).length * LETTER > widths[column]! ? each.text(row) : undefined}
                    role={column === 0 ? 'rowheader' : 'gridcell'}
                    aria-colindex={column + 1}
                    data-column={each.id}
                    tabIndex={focused.row === index && focused.column === column ? 0 : -1}
                    class={`clip ${each.isNumber ? 'number' : ''} ${each.tone?.(row) ?? ''}`}
                    onClick={() => setCell({ row: index, column })}
                  >
                    {each.render ? each.render(row) : each.text(row)}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
      {shown.length === 0 && <p class="empty">{rows.length === 0 ? 'There are no rows.' : 'No row has this text.'}</p>}
    </div>
  );
}

function filteredRows<Row>(rows: readonly Row[], columns: readonly GridColumn<Row>[], filter: string): readonly Row[] {
  const wanted = filter.trim().toLowerCase();
  if (wanted === '') return rows;
  return rows.filter((row) => columns.some((column) => column.text(row).toLowerCase().includes(wanted)));
}

function sortedRows<Row>(
  rows: readonly Row[],
  columns: readonly GridColumn<Row>[],
  sort: { column: string; isDescending: boolean } | undefined,
): readonly Row[] {
  const column = columns.find(({ id }) => id === sort?.column);
  if (!sort || !column) return rows;
  const direction = sort.isDescending ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [x, y] = [a, b].map((row) => (column.rank ? column.rank(row) : column.value(row))) as [Value, Value];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return direction * (typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y)));
  });
}

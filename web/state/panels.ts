import { signal } from '@preact/signals';
import type { Call } from '../operations.ts';

/** A panel on the page, with the data for actions such as copying and saving. */
export interface Panel {
  readonly id: string;
  readonly title: string;
  readonly element: HTMLElement;
  /** The call whose answer the panel shows. */
  readonly call: Call | undefined;
  readonly table: PanelTable | undefined;
  /** Saves the table as CSV, or the chart as a picture. */
  save(kind: 'csv' | 'png'): void;
}

/** The data of a panel as a table. The shortcut `v` shows the table in the panel, and the export saves it as a file. */
export interface PanelTable {
  readonly columns: readonly string[];
  /** Values by row. Null means an unknown value. */
  readonly rows: readonly (readonly (string | number | null)[])[];
  /** The index of the row that is initially in the middle. */
  readonly startAt?: number;
  /** The page calls this function with a row when the member presses Enter on the row. */
  readonly onOpen?: (row: readonly (string | number | null)[]) => void;
}

const panels = new Map<string, Panel>();

/** The ids of the panels that show their table instead of their chart. */
export const asTables = signal<ReadonlySet<string>>(new Set());

export function registerPanel(panel: Panel): void {
  panels.set(panel.id, panel);
}

export function forgetPanel(id: string, element: HTMLElement): void {
  if (panels.get(id)?.element === element) panels.delete(id);
}

/** Returns the panel with the focus. If no panel has the focus, returns the first panel with a call. */
export function activePanel(): Panel | undefined {
  const all = [...panels.values()];
  return (
    all.find(({ element }) => element.contains(document.activeElement)) ?? all.find(({ call }) => call !== undefined)
  );
}

/** Returns the call of the panel that shows the answer of an operation. */
export function panelCall(operation: string): Call | undefined {
  return [...panels.values()].find(({ call }) => call?.operation === operation)?.call;
}

/** Switches a panel between table and chart. */
export function toggleTable(id: string): void {
  const next = new Set(asTables.value);
  if (!next.delete(id)) next.add(id);
  asTables.value = next;
}

/** Returns a table with one column for each list in an answer. */
export function columnTable(columns: Readonly<Record<string, unknown>>): PanelTable {
  const lists = Object.entries(columns).filter((entry): entry is [string, (string | number | null)[]] =>
    Array.isArray(entry[1]),
  );
  return {
    columns: lists.map(([name]) => name),
    rows: (lists[0]?.[1] ?? []).map((_, i) => lists.map(([, values]) => values[i] ?? null)),
  };
}

/** What the figures of a panel are of. */
export interface PanelOrigin {
  readonly ticker: string;
  readonly asOf: string;
  readonly isSimulated: boolean;
  /** `STALE` with the age of the quotes if they are too old. Otherwise empty. */
  readonly stale: string;
  /** The options that differ from the defaults, as text. Empty if the panel has the default options. */
  readonly scope: string;
}

/**
 * Returns a table as CSV (RFC 4180). Each row contains the ticker, the moment, whether the market is simulated, and the options. A copied row
 * therefore remains unambiguous.
 */
export function csvOf({ columns, rows }: PanelTable, origin: PanelOrigin): string {
  const cell = (value: string | number | null) => {
    const text = value === null ? '' : String(value);
    // Quotes a text that starts like a formula, because a spreadsheet would evaluate it.
    const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  // A table of several tickers has the ticker of each row itself.
  const origins = Object.entries({
    ticker: origin.ticker,
    as_of: origin.asOf,
    simulated: String(origin.isSimulated),
    options: origin.scope || 'default',
  }).filter(([name]) => !columns.includes(name));
  const values = origins.map(([, value]) => value);
  const lines = [[...origins.map(([name]) => name), ...columns], ...rows.map((row) => [...values, ...row])];
  return lines.map((line) => `${line.map(cell).join(',')}\r\n`).join('');
}

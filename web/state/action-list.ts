import { MEASURES, VIEW_NAMES, VIEWS } from './address.ts';

/** An action of the member on the page. An action has a keyboard shortcut, or is a command, or both. */
export interface ListedAction {
  readonly id: ActionId;
  readonly label: string;
  /** The keyboard shortcut as the page shows it. `g t` means g, then t. Undefined if the action is only a command. */
  readonly keys: string | undefined;
  readonly group: string;
}

const action = <const Id extends string>(group: string, id: Id, label: string, keys?: string) => ({
  id,
  label,
  keys,
  group,
});

const LIST = [
  ...VIEWS.map((view) =>
    action('Views', `view_${view}`, `Go to ${VIEW_NAMES[view].name}`, `g ${VIEW_NAMES[view].key}`),
  ),
  action('Ticker', 'ticker', 'Choose a ticker, or filter a grid', '/'),
  action('Ticker', 'next_ticker', 'Next ticker', 'j'),
  action('Ticker', 'previous_ticker', 'Previous ticker', 'k'),
  action('Time', 'snapshot_before', 'Snapshot before', '['),
  action('Time', 'snapshot_after', 'Snapshot after', ']'),
  action('Time', 'day_before', 'Day before', '{'),
  action('Time', 'day_after', 'Day after', '}'),
  action('Time', 'live', 'Back to live', 'l'),
  action('Time', 'play', 'Play the snapshots, or stop'),
  action('Time', 'pin', 'Pin this moment as A', 'p'),
  action('Time', 'diff', 'Difference from A, or from the previous close', 'd'),
  action('Time', 'since_close', 'Since the previous close: compare, versus (vs) yesterday'),
  action('Time', 'since_open', "Since the day's open: compare"),
  action('Time', 'since_hour', 'Since an hour before: compare'),
  action('Time', 'calendar', 'Calendar: go to a day'),
  action('Time', 'this_day', 'This day only, on the time strip'),
  action('Time', 'swap', 'Swap A and the present moment', 'x'),
  ...MEASURES.map((measure, i) => action('Analysis', `measure_${measure}`, `Measure: ${measure}`, String(i + 1))),
  action('Analysis', 'weight', 'Weight: open interest or volume', 'w'),
  action('Analysis', 'side', 'Side of dealers: convention or signed flow', 'n'),
  action('Analysis', 'first_expiry', 'Expiries: those of the session or the next one, or 35 days', 'z'),
  action('Analysis', 'options', 'Options of the analysis', 'o'),
  action('Panel', 'explain', 'Explain a figure', 'i'),
  action('Panel', 'table', 'Chart or table', 'v'),
  action('Panel', 'copy_curl', 'Copy the call as curl', 'c'),
  action('Panel', 'copy_mcp', 'Copy the call as an MCP message', 'Shift+C'),
  action('Panel', 'copy_command', 'Copy the call as a zomma command'),
  action('Panel', 'save_csv', 'Save the table of the panel as CSV'),
  action('Panel', 'save_picture', 'Save the chart of the panel as a picture, PNG'),
  action('Panel', 'zoom_in', 'Zoom in', '+'),
  action('Panel', 'zoom_out', 'Zoom out', '-'),
  action('Panel', 'zoom_reset', 'Reset the zoom', '='),
  action('Page', 'commands', 'Commands', 'Ctrl+K'),
  action('Page', 'keys', 'All keys', '?'),
  action('Page', 'theme', 'Theme: system, dark, light', 't'),
  action('Page', 'letters', 'Turn letter keys on or off'),
  action('Page', 'link', 'Copy link to this page', 'y'),
  action('Page', 'print', 'Print'),
  action('Page', 'sign_out', 'Sign out'),
] as const;

export type ActionId = (typeof LIST)[number]['id'];

/** All actions of the page, by group. */
export const ACTION_LIST: readonly ListedAction[] = LIST;

/** Keyboard shortcuts within a chart. Enter or Tab moves the focus into a chart. The chart itself handles both keys. */
export const CHART_KEYS: readonly (readonly [keys: string, label: string])[] = [
  ['↑ ↓', 'next strike'],
  ['← →', 'next expiry, or next point of a line'],
  ['Shift+↑ ↓', 'select strikes'],
  ['PgUp PgDn', 'ten strikes'],
  ['Home End', 'first, last'],
  ['. ,', 'next, previous level'],
  ['Space', 'select'],
  ['Enter', 'explain'],
];

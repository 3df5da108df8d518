import { zoomBy } from '../chart/zoom.ts';
import { commandOf, curlOf, mcpOf } from '../operations.ts';
import { MEASURES, VIEWS, type ViewName } from './address.ts';
import { asOf, isSimulated, neighbour } from './market.ts';
import { signOut } from './member-key.ts';
import { navigate, page, ticker } from './page.ts';
import { activePanel, toggleTable } from './panels.ts';
import { moveInTime } from './time-stops.ts';
import { areLettersOn, copy, dialog, THEMES, theme } from './ui.ts';

/** Something that the member can do. Every act has a key or a command, and a place on the page. */
export interface Act {
  readonly id: string;
  readonly label: string;
  /** The keys, as they are printed: `g t` is g, then t. Undefined: only a command. */
  readonly keys?: string;
  readonly group: 'Views' | 'Ticker' | 'Time' | 'Analysis' | 'Panel' | 'Page';
  run(): void;
}

/** The name and the key of each view, after `g`. */
export const VIEW_NAMES: Readonly<
  Record<ViewName, { readonly name: string; readonly key: string; readonly question: string }>
> = {
  ticker: { name: 'Ticker', key: 't', question: 'Where are the levels, and what holds them up?' },
  expiries: { name: 'Expiries', key: 'e', question: 'What expires when, and how is volatility priced?' },
  strikes: {
    name: 'Strikes',
    key: 'k',
    question: 'All rows: exposure, open interest and volume by strike, and the nodes to hedge.',
  },
  flow: { name: 'Flow', key: 'f', question: 'Who traded what?' },
  history: { name: 'History', key: 'h', question: 'How did the levels move, and did they hold?' },
  scan: { name: 'Scan', key: 's', question: 'The whole universe, and the probabilities of one ticker.' },
  surface: { name: 'Surface', key: 'v', question: 'How are smiles, the term structure and events priced?' },
  bench: { name: 'Bench', key: 'b', question: 'How fast are the kernels, here and on the server?' },
  house: { name: 'House', key: 'd', question: 'Is the data good, and how do others get it?' },
};

const views = VIEWS.map(
  (view): Act => ({
    id: `view_${view}`,
    label: `Go to ${VIEW_NAMES[view].name}`,
    keys: `g ${VIEW_NAMES[view].key}`,
    group: 'Views',
    run: () => navigate({ view }),
  }),
);

const option = (name: 'weight' | 'sign' | 'expiries' | 'gamma' | 'iv' | 'forward', value: string) => {
  const { [name]: present, ...others } = page.value.options;
  navigate({ options: present === value ? others : { ...page.value.options, [name]: value } });
};

const walk = (step: number) => {
  const next = neighbour(step);
  if (next) navigate({ ticker: next });
};

const copyCall = (as: 'curl' | 'mcp' | 'command') => {
  const panel = activePanel();
  if (!panel?.call) return;
  const text = {
    curl: () => curlOf(panel.call!, location.origin),
    mcp: () => mcpOf(panel.call!),
    command: () => commandOf(panel.call!),
  }[as]();
  if (text) void copy(text, `${panel.title} as ${as}`);
};

export const ACTS: readonly Act[] = [
  { id: 'commands', label: 'Commands', keys: 'Ctrl+K', group: 'Page', run: () => (dialog.value = 'commands') },
  { id: 'keys', label: 'All keys', keys: '?', group: 'Page', run: () => (dialog.value = 'keys') },
  {
    id: 'theme',
    label: 'Theme: system, dark, light',
    keys: 't',
    group: 'Page',
    run: () => (theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!),
  },
  {
    id: 'letters',
    label: 'Turn letter keys on or off',
    group: 'Page',
    run: () => (areLettersOn.value = !areLettersOn.value),
  },
  {
    id: 'link',
    label: 'Copy link to this page',
    keys: 'y',
    group: 'Page',
    run: () => void copy(location.href, 'link'),
  },
  { id: 'print', label: 'Print', group: 'Page', run: () => print() },
  { id: 'sign_out', label: 'Sign out', group: 'Page', run: () => signOut() },
  ...views,
  { id: 'ticker', label: 'Choose a ticker, or filter a grid', keys: '/', group: 'Ticker', run: focusFilterOrTicker },
  { id: 'next_ticker', label: 'Next ticker', keys: 'j', group: 'Ticker', run: () => walk(1) },
  { id: 'previous_ticker', label: 'Previous ticker', keys: 'k', group: 'Ticker', run: () => walk(-1) },
  { id: 'snapshot_before', label: 'Snapshot before', keys: '[', group: 'Time', run: () => moveInTime(-1, 'snapshot') },
  { id: 'snapshot_after', label: 'Snapshot after', keys: ']', group: 'Time', run: () => moveInTime(1, 'snapshot') },
  { id: 'day_before', label: 'Day before', keys: '{', group: 'Time', run: () => moveInTime(-1, 'day') },
  { id: 'day_after', label: 'Day after', keys: '}', group: 'Time', run: () => moveInTime(1, 'day') },
  { id: 'live', label: 'Back to live', keys: 'l', group: 'Time', run: () => navigate({ at: null }) },
  { id: 'pin', label: 'Pin this moment as A', keys: 'p', group: 'Time', run: pin },
  {
    id: 'diff',
    label: 'Difference from A',
    keys: 'd',
    group: 'Time',
    run: () => (page.value.pinned ? navigate({ isDiff: !page.value.isDiff }) : pin()),
  },
  {
    id: 'swap',
    label: 'Swap A and the present moment',
    keys: 'x',
    group: 'Time',
    run: () => page.value.pinned && navigate({ at: page.value.pinned, pinned: page.value.at ?? asOf.value ?? null }),
  },
  ...MEASURES.map(
    (measure, i): Act => ({
      id: `measure_${measure}`,
      label: `Measure: ${measure}`,
      keys: String(i + 1),
      group: 'Analysis',
      run: () => navigate({ measure }),
    }),
  ),
  {
    id: 'weight',
    label: 'Weight: open interest or volume',
    keys: 'w',
    group: 'Analysis',
    run: () => option('weight', 'volume'),
  },
  {
    id: 'side',
    label: 'Side of dealers: convention or signed flow',
    keys: 'n',
    group: 'Analysis',
    run: () => option('sign', 'flow'),
  },
  {
    id: 'zero_dte',
    label: 'Expiries: 0DTE or all',
    keys: 'z',
    group: 'Analysis',
    run: () => option('expiries', '0dte'),
  },
  {
    id: 'options',
    label: 'Options of the analysis',
    keys: 'o',
    group: 'Analysis',
    run: () => (dialog.value = 'options'),
  },
  { id: 'explain', label: 'Explain a figure', keys: 'i', group: 'Panel', run: explain },
  {
    id: 'table',
    label: 'Chart or table',
    keys: 'v',
    group: 'Panel',
    run: () => {
      const panel = activePanel();
      if (panel?.table) toggleTable(panel.id);
    },
  },
  { id: 'copy_curl', label: 'Copy the call as curl', keys: 'c', group: 'Panel', run: () => copyCall('curl') },
  {
    id: 'copy_mcp',
    label: 'Copy the call as an MCP message',
    keys: 'Shift+C',
    group: 'Panel',
    run: () => copyCall('mcp'),
  },
  { id: 'copy_command', label: 'Copy the call as a zomma command', group: 'Panel', run: () => copyCall('command') },
  { id: 'zoom_in', label: 'Zoom in', keys: '+', group: 'Panel', run: () => zoomBy(1 / 1.3) },
  { id: 'zoom_out', label: 'Zoom out', keys: '-', group: 'Panel', run: () => zoomBy(1.3) },
  {
    id: 'zoom_reset',
    label: 'Reset the zoom',
    keys: '=',
    group: 'Panel',
    run: () => navigate({ zoom: 9, shift: 0 }, false),
  },
];

/** Keys that work in a chart, after Enter or Tab has led into it. The chart itself handles them. */
export const CHART_KEYS: readonly (readonly [keys: string, label: string])[] = [
  ['↑ ↓', 'next strike'],
  ['Shift+↑ ↓', 'select strikes'],
  ['PgUp PgDn', 'ten strikes'],
  ['Home End', 'first, last'],
  ['. ,', 'next, previous level'],
  ['Space', 'select'],
  ['Enter', 'explain'],
];

function pin(): void {
  const moment = page.value.at ?? asOf.value;
  if (moment) navigate({ pinned: moment, isDiff: false });
}

function explain(): void {
  const focused = document.activeElement?.closest<HTMLElement>('[data-figure]')?.dataset.figure;
  navigate({ explain: page.value.explain && !focused ? null : (focused ?? 'gex_flip') });
}

function focusFilterOrTicker(): void {
  const filter = document.activeElement?.closest('.grid-box')?.querySelector<HTMLInputElement>('[data-filter]');
  if (filter) filter.focus();
  else dialog.value = 'ticker';
}

/** Time within which the second key of a sequence must follow, ms. */
const SEQUENCE_MS = 1_500;

/** Runs acts by their keys. Letters do nothing in fields, with modifiers, while composing, or if they are turned off. */
export function followKeys(): void {
  let first = '';
  let firstAt = 0;
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      dialog.value = dialog.value === 'commands' ? null : 'commands';
      return;
    }
    if (dialog.value !== null || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') return leave();
    if (isField(event.target) || !areLettersOn.value) return;
    const now = performance.now();
    const keys = event.shiftKey && /^[A-Z]$/.test(event.key) ? `Shift+${event.key}` : event.key;
    const sequence = now - firstAt < SEQUENCE_MS ? `${first} ${keys}` : '';
    const act = ACTS.find((each) => each.keys === sequence) ?? ACTS.find((each) => each.keys === keys);
    [first, firstAt] = [keys === 'g' && !act ? 'g' : '', now];
    if (!act) return;
    event.preventDefault();
    act.run();
  });
}

/** Closes what is open, then leaves the chart, then goes back to live. */
function leave(): void {
  const { activeElement } = document;
  if (page.value.explain) navigate({ explain: null });
  else if (activeElement instanceof HTMLElement && activeElement.closest('[role="application"], .grid')) {
    const panel = activeElement.closest<HTMLElement>('.panel');
    const button = panel?.querySelector<HTMLElement>('button');
    (button ?? activeElement).focus();
    if (!button) activeElement.blur();
  } else if (page.value.at !== null) navigate({ at: null });
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches('input, textarea, select') || target.isContentEditable);
}

/** The name of the present state for the title of the page. */
export function pageTitle(): string {
  return `${isSimulated.value ? 'SIM ' : ''}${ticker.value} ${VIEW_NAMES[page.value.view].name} · Zomma`;
}

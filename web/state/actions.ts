import { signOut } from '../data/member-key.ts';
import { CALL_TEXTS, WEB_OPERATIONS } from '../operations.ts';
import { newYorkMoment } from '../page-format.ts';
import { ACTION_LIST, type ActionId } from './action-list.ts';
import { formatAddress, MEASURES, type Measure, START, VIEW_NAMES, VIEWS, type ViewName } from './address.ts';
import { navigate, page, pageTicker } from './page.ts';
import { asOf, isSimulated } from './page-market.ts';
import { activePanel, toggleTable } from './panels.ts';
import { zoomBy } from './price-range.ts';
import { scopeSummary, toggleFirstExpiry, toggleScope } from './scope.ts';
import { isThisDayOnly, moveInTime, moveToMoment, togglePlay, toggleSince } from './time-stops.ts';
import { areLettersOn, copy, type DialogName, dialog, notify, THEMES, theme } from './ui.ts';
import { neighbour } from './watched-tickers.ts';

const walk = (step: number) => {
  const next = neighbour(step);
  if (next) navigate({ ticker: next });
};

const copyCall = (as: keyof typeof CALL_TEXTS) => {
  const panel = activePanel();
  if (!panel?.call) return;
  const text = CALL_TEXTS[as](panel.call);
  if (text) void copy(text, `${panel.title} as ${as}`);
  else notify(`There is no ${as} form of this call. MCP has all expiries, with the default options.`);
};

/** The function of each action. */
const RUN: Readonly<Record<ActionId, () => void>> = {
  ...(Object.fromEntries(VIEWS.map((view) => [`view_${view}`, () => navigate({ view })])) as Record<
    `view_${ViewName}`,
    () => void
  >),
  ...(Object.fromEntries(MEASURES.map((measure) => [`measure_${measure}`, () => navigate({ measure })])) as Record<
    `measure_${Measure}`,
    () => void
  >),
  commands: () => open('commands'),
  keys: () => open('keys'),
  options: () => open('options'),
  theme: () => (theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!),
  letters: () => (areLettersOn.value = !areLettersOn.value),
  link: copyLink,
  print: () => print(),
  sign_out: () => signOut(),
  ticker: focusFilterOrTicker,
  next_ticker: () => walk(1),
  previous_ticker: () => walk(-1),
  snapshot_before: () => moveInTime(-1, 'snapshot'),
  snapshot_after: () => moveInTime(1, 'snapshot'),
  day_before: () => moveInTime(-1, 'day'),
  day_after: () => moveInTime(1, 'day'),
  live: () => navigate({ at: null }),
  play: togglePlay,
  pin,
  diff: () => (page.value.pinned ? navigate({ isDiff: !page.value.isDiff }) : toggleSince('close')),
  since_close: () => toggleSince('close'),
  since_open: () => toggleSince('open'),
  since_hour: () => toggleSince('hour'),
  calendar: () => open('calendar'),
  this_day: () => (isThisDayOnly.value = !isThisDayOnly.value),
  swap: () => {
    const { pinned, at } = page.value;
    if (pinned) moveToMoment(pinned, { pinned: at ?? asOf.value ?? null });
  },
  weight: () => toggleScope('weight', 'volume'),
  side: () => toggleScope('sign', 'flow'),
  first_expiry: toggleFirstExpiry,
  explain,
  table: () => {
    const panel = activePanel();
    if (panel?.table) toggleTable(panel.id);
  },
  copy_curl: () => copyCall('curl'),
  copy_mcp: () => copyCall('MCP'),
  copy_command: () => copyCall('zomma'),
  save_csv: () => activePanel()?.save('csv'),
  save_picture: () => activePanel()?.save('png'),
  zoom_in: () => zoomBy(1 / 1.3),
  zoom_out: () => zoomBy(1.3),
  zoom_reset: () => navigate({ zoom: START.zoom, shift: 0 }, false),
};

export function runAction(id: ActionId): void {
  RUN[id]();
}

function open(name: DialogName): void {
  dialog.value = name;
}

/** Copies a link to the figures on the page. The link of a live page has the moment too, so that it opens the same figures later. */
function copyLink(): void {
  const moment = page.value.at ?? asOf.value ?? null;
  const address = formatAddress({ ...page.value, at: moment });
  void copy(new URL(address, location.href).href, moment ? `link to ${newYorkMoment(moment)} New York` : 'link');
}

function pin(): void {
  const moment = page.value.at ?? asOf.value;
  if (moment) navigate({ pinned: moment, isDiff: false });
}

function explain(): void {
  const { activeElement } = document;
  const focused =
    activeElement?.closest<HTMLElement>('[data-figure]')?.dataset.figure ??
    figureOfPanel(activeElement?.closest<HTMLElement>('[data-column]')?.dataset.column);
  navigate({ explain: page.value.explain && !focused ? null : (focused ?? 'gex_flip') });
}

/** Returns the id of the focused panel's figures, or of the field of a column. Undefined if the focus is in no panel with market data. */
function figureOfPanel(column: string | undefined): string | undefined {
  const panel = activePanel();
  if (!panel?.call || !panel.element.contains(document.activeElement)) return undefined;
  const { operation } = panel.call;
  // The charts of the levels explain the levels, as ever.
  if (!WEB_OPERATIONS[operation].ofMarket || (column === undefined && operation.startsWith('get_gex_by_strike')))
    return undefined;
  return column === undefined ? operation : `${operation}.${column}`;
}

function focusFilterOrTicker(): void {
  const filter = document.activeElement?.closest('.panel')?.querySelector<HTMLInputElement>('[data-filter]');
  if (filter) filter.focus();
  else open('ticker');
}

/** Maximum time between the keys of a sequence such as `g t`, in ms. */
const SEQUENCE_MS = 1_500;

/**
 * Runs actions when their keyboard shortcuts are pressed. The function ignores a single letter in an input field, with a modifier key,
 * during text composition, or if the member has turned letter shortcuts off.
 */
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
    if (dialog.value !== null || hasModifier(event)) return;
    if (event.key === 'Escape') return leave();
    if (isField(event.target) || !areLettersOn.value) return;
    const now = performance.now();
    const keys = event.shiftKey && /^[A-Z]$/.test(event.key) ? `Shift+${event.key}` : event.key;
    const sequence = now - firstAt < SEQUENCE_MS ? `${first} ${keys}` : '';
    const action = ACTION_LIST.find((each) => each.keys === sequence) ?? ACTION_LIST.find((each) => each.keys === keys);
    [first, firstAt] = [keys === 'g' && !action ? 'g' : '', now];
    if (!action) return;
    event.preventDefault();
    runAction(action.id);
  });
}

/** If a focused element is removed from the page, moves the focus to its panel. If the panel is gone, moves the focus to the view. */
export function followFocus(): void {
  let [focused, panel]: (Element | null)[] = [];
  addEventListener('focusin', ({ target }) => {
    focused = target as Element;
    panel = focused.closest('.panel');
  });
  new MutationObserver(() => {
    if (document.activeElement !== document.body || focused?.isConnected !== false) return;
    (panel?.isConnected ? panel.querySelector('summary') : document.getElementById('main'))?.focus();
  }).observe(document.body, { childList: true, subtree: true });
}

/**
 * Returns whether a pressed modifier key makes a shortcut invalid. AltGr, and Alt together with a bracket, do not make a shortcut invalid,
 * because many keyboards need these keys to type brackets.
 */
function hasModifier(event: KeyboardEvent): boolean {
  const isTyped = event.getModifierState('AltGraph') || (event.altKey && /^[[\]{}]$/.test(event.key));
  return event.metaKey || (!isTyped && (event.ctrlKey || event.altKey));
}

/** Closes the Explain panel. If the panel is closed, moves the focus out of a chart. If no chart has the focus, shows live data. */
function leave(): void {
  const { activeElement } = document;
  if (page.value.explain) navigate({ explain: null });
  else if (activeElement instanceof HTMLElement && activeElement.closest('[role="application"], .grid')) {
    // Buttons in a closed menu are not focusable, so the `summary` element gets the focus.
    const menu = activeElement.closest('.panel')?.querySelector<HTMLElement>('summary');
    (menu ?? activeElement).focus();
    if (!menu) activeElement.blur();
  } else if (page.value.at !== null) navigate({ at: null });
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches('input, textarea, select') || target.isContentEditable);
}

/** Returns the title of the page. */
export function pageTitle(): string {
  const options = scopeSummary.value === '' ? '' : ` · ${scopeSummary.value}`;
  return `${isSimulated.value ? 'SIM ' : ''}${pageTicker.value} ${VIEW_NAMES[page.value.view].name}${options} · Zomma`;
}

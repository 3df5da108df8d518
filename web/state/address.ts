import { writtenMoment } from '../time/written-moment.ts';

/** For each view: a name, the key that opens the view after `g`, and the question that the view answers. */
export const VIEW_NAMES = {
  ticker: { name: 'Ticker', key: 't', question: 'Where are the levels, and what holds them up?' },
  expiries: { name: 'Expiries', key: 'e', question: 'What expires when, and how is volatility priced?' },
  strikes: {
    name: 'Strikes',
    key: 'k',
    question: 'All rows: exposure, open interest and volume by strike, and the nodes to hedge.',
  },
  flow: { name: 'Flow', key: 'f', question: 'Who traded what?' },
  history: { name: 'History', key: 'h', question: 'How did the levels move, and did they hold?' },
  compare: {
    name: 'Compare',
    key: 'c',
    question: 'Which tickers, side by side: change, regime, flip, walls, volatility?',
  },
  odds: { name: 'Odds', key: 'o', question: 'Where may the price end, and how likely is a whipsaw?' },
  surface: { name: 'Surface', key: 'v', question: 'How are smiles, the term structure and events priced?' },
  house: { name: 'Data', key: 'd', question: 'Is the data good, and how do others get it?' },
} as const;
export type ViewName = keyof typeof VIEW_NAMES;

/**
 * The names of all views. The address of the page contains the complete page state, including the view:
 * `#/SPY/ticker?at=2026-11-20T20:30:00Z&weight=volume`. Parsing and formatting an address have no side effects. Unknown or malformed fields
 * of an address get default values, so that every address opens a page, and are listed, so that the page can say so.
 */
export const VIEWS = Object.keys(VIEW_NAMES) as ViewName[];

export const MEASURES = ['gamma', 'delta', 'vanna', 'charm'] as const;
export type Measure = (typeof MEASURES)[number];

/** For each option of the analysis, the values that the page offers. The first value is the default of the server and of the page. */
export const OPTION_VALUES = {
  forward: ['parity', 'flat'],
  gamma: ['recomputed', 'feed'],
  iv: ['otm', 'feed', 'own'],
  weight: ['open_interest', 'volume'],
  sign: ['calls_long_puts_short', 'short_both', 'flow'],
  smile_dynamics: ['sticky_strike', 'sticky_moneyness', 'ssr', 'ssr=1.5', 'ssr=2'],
} as const;
export type OptionName = keyof typeof OPTION_VALUES;

/** The expiries that the page analyses if the address names none: the levels of all expiries together say little about the coming weeks. */
export const FIRST_EXPIRIES = 'next:35';

/** The options that differ from the page's defaults. In the options of a call, `expiries` is always present. */
export type ChosenOptions = Readonly<Partial<Record<OptionName | 'expiries', string>>>;

/** Returns the options that differ from the page's defaults. */
export function chosenOptions(options: ChosenOptions): ChosenOptions {
  const defaults: ChosenOptions = { expiries: FIRST_EXPIRIES };
  return Object.fromEntries(
    Object.entries(options).filter(
      ([name, value]) => value && value !== (defaults[name as 'expiries'] ?? OPTION_VALUES[name as OptionName]?.[0]),
    ),
  );
}

export interface PageState {
  readonly ticker: string;
  readonly view: ViewName;
  /** The moment of a replay, ISO 8601. Null if the page shows the newest data. */
  readonly at: string | null;
  /** Moment A of a comparison, ISO 8601. Null if the member has pinned no moment. */
  readonly pinned: string | null;
  /** True if the page shows the difference from the moment `pinned`. */
  readonly isDiff: boolean;
  readonly options: ChosenOptions;
  readonly measure: Measure;
  /** Half the length of the price axis, in percent of spot. Null if the levels set the length, until the member zooms. */
  readonly zoom: number | null;
  /** Distance from spot to the middle of the price axis, in percent of spot. Without a zoom, 0 lets the levels set the middle too. */
  readonly shift: number;
  /** The figure that the Explain panel explains. Null if the panel is closed. */
  readonly explain: string | null;
  /** Settings of a single view, such as the number of days of the flow. */
  readonly own: Readonly<Record<string, string>>;
  /** The fields of the address that the page does not understand, as `at=yesterday`. Any navigation forgets them. */
  readonly misread: readonly string[];
}

export const ZOOM = { initial: 9, least: 0.5, most: 60 } as const;
/** Bounds of the shift, in percent of spot. A wall can be many times as high as spot. */
const SHIFT = { least: -100, most: 10_000 } as const;

export const START: PageState = {
  ticker: 'SPY',
  view: 'ticker',
  at: null,
  pinned: null,
  isDiff: false,
  options: {},
  measure: 'gamma',
  zoom: null,
  shift: 0,
  explain: null,
  own: {},
  misread: [],
};

export const TICKER = /^\^?[A-Z0-9][A-Z0-9.-]{0,18}$/;
/** A moment in the form of the page's own links. Any other form is converted to this one. */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z$/;
const EXPIRIES = /^(?:all|0dte|session|\d{4}-\d{2}-\d{2}|next:\d{1,4})$/;
const NAME = /^[a-z][a-z_]{0,23}$/;
const FIGURE = /^[a-z][a-z0-9_.]{0,79}$/i;
const OWN_LENGTH_MAX = 200;
/** The prefix of a view's settings in the address. The prefix prevents collisions with the settings of the page. */
const OWN_PREFIX = '_';
/** Names that links may have for a view: its old name, or the name that the page shows. */
const OTHER_NAMES: Readonly<Record<string, ViewName>> = { scan: 'odds', data: 'house' };

/** Parses the fragment of an address, with or without `#`. People may write a moment after the path: `#/SPY@2026-11-19 15:00`. */
export function parseAddress(fragment: string): PageState {
  const [, path = '', written, search = ''] = /^#?\/?([^?@]*)(?:@([^?]*))?(?:\?(.*))?$/s.exec(fragment) ?? [];
  const [ticker = '', view = '', ...others] = path.split('/').map(decoded);
  const query = new URLSearchParams(search);
  if (written !== undefined && !query.has('at')) query.set('at', decoded(written));
  const misread: string[] = [];
  const refused = (name: string, value: string) => misread.push(`${name}=${value.slice(0, 40)}`);
  /** Returns the value of a field, or null if the address does not have the field. Lists a value that `read` does not accept. */
  function get<Value>(name: string, read: (value: string) => Value | null | undefined): Value | null {
    const text = query.get(name);
    query.delete(name);
    if (text === null) return null;
    const value = read(text) ?? null;
    if (value === null) refused(name, text);
    return value;
  }
  const matching = (pattern: RegExp) => (value: string) => (pattern.test(value) ? value : null);
  const moment = (value: string) => (INSTANT.test(value) ? value : writtenMoment(value));
  const options: Record<string, string> = {};
  for (const [name, values] of Object.entries(OPTION_VALUES)) {
    options[name] = get(name, (text) => values.find((each) => each === text)) ?? '';
  }
  options.expiries = get('expiries', matching(EXPIRIES)) ?? '';
  const name = ticker.toUpperCase();
  if (ticker !== '' && !TICKER.test(name)) refused('ticker', ticker);
  const known = VIEWS.find((each) => each === (OTHER_NAMES[view] ?? view));
  if (view !== '' && !known) refused('view', view);
  if (others.length > 0) refused('path', others.join('/'));
  const pinned = get('pin', moment);
  const state = {
    ticker: TICKER.test(name) ? name : START.ticker,
    view: known ?? START.view,
    at: get('at', (text) => (/^(?:live|now)$/i.test(text) ? 'live' : moment(text))),
    pinned,
    isDiff: get('diff', matching(/^[01]$/)) === '1' && pinned !== null,
    options: chosenOptions(options),
    measure: get('measure', (text) => MEASURES.find((each) => each === text)) ?? START.measure,
    zoom: get('zoom', bounded(ZOOM.least, ZOOM.most)) ?? START.zoom,
    shift: get('shift', bounded(SHIFT.least, SHIFT.most)) ?? START.shift,
    explain: get('explain', matching(FIGURE)),
  };
  const own: Record<string, string> = {};
  for (const [field, value] of query) {
    const plain = field.slice(OWN_PREFIX.length);
    if (field.startsWith(OWN_PREFIX) && NAME.test(plain) && value.length <= OWN_LENGTH_MAX) own[plain] = value;
    else refused(field.slice(0, 40), value);
  }
  return { ...state, at: state.at === 'live' ? null : state.at, own, misread };
}

/** Returns the fragment of a page state, with `#` and without default values. `parseAddress` converts the fragment into the same state. */
export function formatAddress(state: PageState): string {
  const query = new URLSearchParams();
  if (state.at) query.set('at', state.at);
  if (state.pinned) query.set('pin', state.pinned);
  if (state.isDiff) query.set('diff', '1');
  for (const [name, value] of Object.entries(state.options)) if (value) query.set(name, value);
  if (state.measure !== START.measure) query.set('measure', state.measure);
  if (state.zoom !== null) query.set('zoom', String(state.zoom));
  if (state.shift !== 0) query.set('shift', String(state.shift));
  if (state.explain) query.set('explain', state.explain);
  for (const [name, value] of Object.entries(state.own)) query.set(`${OWN_PREFIX}${name}`, value);
  // Colons and commas are legal in a fragment. An address without escapes is easier to read.
  const text = query.toString().replaceAll('%3A', ':').replaceAll('%2C', ',');
  return `#/${encodeURIComponent(state.ticker)}/${state.view}${text && `?${text}`}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** Returns a function that reads a number, and moves it into [least, most]. */
function bounded(least: number, most: number) {
  return (text: string) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isFinite(value)) return null;
    return Math.min(most, Math.max(least, Math.round(value * 100) / 100));
  };
}

/**
 * The names of all views. The address of the page contains the complete page state, including the view:
 * `#/SPY/ticker?at=2026-11-20T20:30:00Z&weight=volume`. Parsing and formatting an address have no side effects. Unknown or malformed fields
 * of an address get default values, so that every address opens a page.
 */
export const VIEWS = ['ticker', 'expiries', 'strikes', 'flow', 'history', 'scan', 'surface', 'house'] as const;
export type ViewName = (typeof VIEWS)[number];

export const MEASURES = ['gamma', 'delta', 'vanna', 'charm'] as const;
export type Measure = (typeof MEASURES)[number];

/** For each option of the analysis, the values that the page offers. The first value is the server's default. */
export const OPTION_VALUES = {
  forward: ['parity', 'flat'],
  gamma: ['recomputed', 'feed'],
  iv: ['otm', 'feed', 'own'],
  weight: ['open_interest', 'volume'],
  sign: ['calls_long_puts_short', 'flow'],
} as const;
export type OptionName = keyof typeof OPTION_VALUES;

/** The options that differ from the server's defaults. */
export type ChosenOptions = Readonly<Partial<Record<OptionName | 'expiries', string>>>;

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
  /** Half the length of the price axis, in percent of spot. */
  readonly zoom: number;
  /** Distance from spot to the middle of the price axis, in percent of spot. */
  readonly shift: number;
  /** The figure that the Explain panel explains. Null if the panel is closed. */
  readonly explain: string | null;
  /** Settings of a single view, such as the number of days of the flow. */
  readonly own: Readonly<Record<string, string>>;
}

export const ZOOM = { initial: 9, least: 0.5, most: 60 } as const;

export const START: PageState = {
  ticker: 'SPY',
  view: 'ticker',
  at: null,
  pinned: null,
  isDiff: false,
  options: {},
  measure: 'gamma',
  zoom: ZOOM.initial,
  shift: 0,
  explain: null,
  own: {},
};

const TICKER = /^\^?[A-Z0-9][A-Z0-9.-]{0,18}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z$/;
const EXPIRIES = /^(?:0dte|\d{4}-\d{2}-\d{2}|next:\d{1,4})$/;
const NAME = /^[a-z][a-z_]{0,23}$/;
const FIGURE = /^[a-z][a-z0-9_.]{0,39}$/;
const OWN_LENGTH_MAX = 200;
/** The prefix of a view's settings in the address. The prefix prevents collisions with the settings of the page. */
const OWN_PREFIX = '_';

/** Parses the fragment of an address, with or without the leading `#`. */
export function parseAddress(fragment: string): PageState {
  const text = fragment.replace(/^#?\/?/, '');
  const question = text.indexOf('?');
  const [ticker = '', view = ''] = (question < 0 ? text : text.slice(0, question)).split('/').map(decoded);
  const query = new URLSearchParams(question < 0 ? '' : text.slice(question + 1));
  const get = (name: string, pattern: RegExp) => {
    const value = query.get(name);
    return value !== null && pattern.test(value) ? value : null;
  };
  const options: Record<string, string> = {};
  for (const [name, values] of Object.entries(OPTION_VALUES)) {
    const value = query.get(name);
    if (value !== null && values.slice(1).some((each) => each === value)) options[name] = value;
  }
  const expiries = get('expiries', EXPIRIES);
  if (expiries) options.expiries = expiries;
  const own: Record<string, string> = {};
  for (const [name, value] of query) {
    const plain = name.slice(OWN_PREFIX.length);
    if (name.startsWith(OWN_PREFIX) && NAME.test(plain) && value.length <= OWN_LENGTH_MAX) own[plain] = value;
  }
  const pinned = get('pin', INSTANT);
  return {
    ticker: TICKER.test(ticker.toUpperCase()) ? ticker.toUpperCase() : START.ticker,
    view: VIEWS.find((each) => each === view) ?? START.view,
    at: get('at', INSTANT),
    pinned,
    isDiff: pinned !== null && query.get('diff') === '1',
    options,
    measure: MEASURES.find((each) => each === query.get('measure')) ?? START.measure,
    zoom: bounded(query.get('zoom'), START.zoom, ZOOM.least, ZOOM.most),
    shift: bounded(query.get('shift'), 0, -ZOOM.most, ZOOM.most),
    explain: get('explain', FIGURE),
    own,
  };
}

/** Returns the fragment of a page state, with `#` and without default values. `parseAddress` converts the fragment into the same state. */
export function formatAddress(state: PageState): string {
  const query = new URLSearchParams();
  if (state.at) query.set('at', state.at);
  if (state.pinned) query.set('pin', state.pinned);
  if (state.isDiff) query.set('diff', '1');
  for (const [name, value] of Object.entries(state.options)) if (value) query.set(name, value);
  if (state.measure !== START.measure) query.set('measure', state.measure);
  if (state.zoom !== START.zoom) query.set('zoom', String(state.zoom));
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

function bounded(text: string | null, fallback: number, least: number, most: number): number {
  const value = Number(text);
  if (text === null || text.trim() === '' || !Number.isFinite(value)) return fallback;
  return Math.min(most, Math.max(least, Math.round(value * 100) / 100));
}

import { newYorkClock, newYorkIsoDate } from '../page-format.ts';
import { type PageState, VIEWS } from '../state/address.ts';
import { DAY_LENGTH_MS } from '../time/exchange-days.ts';
import { writtenMoment } from '../time/written-moment.ts';

const MINUTE_MS = 60_000;

export interface Command {
  readonly label: string;
  readonly change: Partial<PageState>;
}

interface CommandContext {
  readonly state: PageState;
  readonly tickers: readonly string[];
  /** The moments with a snapshot, ISO 8601, ascending. */
  readonly moments: readonly string[];
}

/**
 * Parses a command, which has up to three fields in this order: a ticker, a view, and one or two moments. Examples are `SPY flow`, `SPY
 * @2026-11-20 15:30` and `@-1d`. A command with two moments, such as `@09:45 ~ @15:45`, compares these moments. Times are in New York time.
 * Returns `undefined` if the text is not a command.
 */
export function parseCommand(text: string, context: CommandContext): Command | undefined {
  const [head = '', ...times] = text.split(/\s*~?\s*@/);
  const words = head.trim().split(/\s+/).filter(Boolean);
  if (words.length === 0 && times.length === 0) return undefined;
  const change: { -readonly [Key in keyof PageState]?: PageState[Key] } = {};
  const labels: string[] = [];
  for (const word of words) {
    const view = VIEWS.find((each) => each === word.toLowerCase());
    const name = word.toUpperCase();
    if (context.tickers.includes(name) && change.ticker === undefined) change.ticker = name;
    else if (view) change.view = view;
    else return undefined;
    labels.push(view ?? name);
  }
  const moments = times.map((each) => momentOf(each.trim(), context));
  if (moments.length > 2 || moments.some((each) => each === undefined)) return undefined;
  if (moments.length === 1) change.at = moments[0]!;
  if (moments.length === 2) Object.assign(change, { pinned: moments[0]!, at: moments[1]!, isDiff: true });
  if (times.length === 0 && labels.length < 2 && change.view === undefined) return undefined;
  const at = moments.map((each) => `${newYorkIsoDate(each)} ${newYorkClock(each)}`).join(' to ');
  return { label: [...labels, at && `at ${at}`].filter(Boolean).join(' '), change };
}

/**
 * Returns the last moment with a snapshot that is not after a given time. The text states a New York date, a time, a date with a time, or a
 * number of days before the page's moment.
 */
function momentOf(text: string, { state, moments }: CommandContext): string | undefined {
  const shown = state.at ?? moments.at(-1);
  if (shown === undefined || text === '') return undefined;
  const ago = /^-(\d{1,3})d$/.exec(text);
  const dated = /^\d{1,2}:\d{2}$/.test(text) ? `${newYorkIsoDate(shown)} ${text}` : text;
  // A time includes its whole minute, as the page shows no seconds.
  const until = ago
    ? Date.parse(shown) - DAY_LENGTH_MS * Number(ago[1])
    : Date.parse(writtenMoment(dated) ?? '') + MINUTE_MS - 1;
  return moments.findLast((moment) => Date.parse(moment) <= until);
}

import { computed } from '@preact/signals';
import { type Expiries, shareAnswer } from '../data/page-answers.ts';
import { type Call, WEB_OPERATIONS } from '../operations.ts';
import { newYorkIsoDate } from '../page-format.ts';
import { type ChosenOptions, FIRST_EXPIRIES } from './address.ts';
import { navigate, page, pageOptions, pageTicker, tickerCall, view } from './page.ts';
import { asOf, gexView } from './page-market.ts';
import {
  expiriesText,
  horizonChoices,
  horizonText,
  SCOPE_NAMES,
  type ScopeName,
  scopeParts,
  scopeText,
} from './scope-words.ts';

/** Sets an option. An empty value sets the default. */
export function setScope(name: ScopeName, value: string): void {
  navigate({ options: { ...page.value.options, [name]: value } });
}

/** Sets an option, or sets its default if the option already has this value. */
export function toggleScope(name: ScopeName, value: string): void {
  setScope(name, page.value.options[name] === value ? '' : value);
}

/** The options of the page, with all expiries in place of the chosen ones. */
export const allOptions = computed((): ChosenOptions => ({ ...pageOptions.value, expiries: 'all' }));

/** The last moment for which the list of all expiries was asked. */
let listed = { ticker: '', day: '', at: '' };

/**
 * The moment for which all expiries are asked. Only the view Expiries shows their figures, so on other views one list per ticker and day is
 * enough.
 */
function listMoment(at: string): string {
  const [ticker, day] = [pageTicker.value, newYorkIsoDate(at)];
  if (view.value === 'expiries' || listed.ticker !== ticker || listed.day !== day) listed = { ticker, day, at };
  return listed.at;
}

/** All expiries of the snapshot, also if the page analyses only some of them. Only the second case needs a request. */
const everyExpiry = shareAnswer<Expiries>(() =>
  pageOptions.value.expiries === 'all' || asOf.value === undefined
    ? undefined
    : tickerCall('get_gex_by_expiry', listMoment(asOf.value), allOptions.value),
);

/** The state of the request for all expiries. */
export const allExpiries = computed(() => {
  if (pageOptions.value.expiries !== 'all' && asOf.value !== undefined) return everyExpiry.asked.value;
  const { answer, ...rest } = gexView.asked.value;
  return { ...rest, answer: answer && { ...answer, body: answer.body.expiries } };
});

/** Returns the options with which a call is answered as one text. Empty if the operation has none. `moment` is the time of the quotes. */
export function callScope(call: Call | undefined, moment: string | undefined): string {
  if (call?.operation === 'get_gex_history') return horizonText(String(call.args.horizon ?? 'all'));
  if (!call || !WEB_OPERATIONS[call.operation].hasExpiries) return '';
  return scopeText(call.args as ChosenOptions, Date.parse(moment ?? ''));
}

/** Returns the expiries of a call as text. Empty if the operation does not select expiries. */
export function callExpiries({ operation, args }: Call, moment: string | undefined): string {
  return WEB_OPERATIONS[operation].hasExpiries
    ? expiriesText(String(args.expiries ?? 'all'), Date.parse(moment ?? ''))
    : '';
}

/** Returns whether a call has other options than the page, apart from the expiries. An option that the operation does not have counts. */
export function hasOtherOptions(call: Call): boolean {
  const { operation } = call;
  const { hasExpiries } = WEB_OPERATIONS[operation];
  const wanted = hasExpiries ? tickerCall(operation, undefined, pageOptions.value).args : page.value.options;
  return SCOPE_NAMES.some((name) => (hasExpiries ? call.args[name] : undefined) !== wanted[name]);
}

/** The number of expiries that the page analyses, and of all: `18 of 25 expiries`. Empty while they are not known. */
export const expiryCounts = computed(() => {
  const body = allExpiries.value.answer?.body;
  const shown = gexView.asked.value.answer?.body.expiries;
  if (!body || !shown) return '';
  const [total, count] = [body, shown].map(({ expiry }) => new Set(expiry).size);
  return count === total ? `all ${total} expiries` : `${count} of ${total} expiries`;
});

/** The options of the page that differ from the defaults as one text, without the labels: `1 of 20 expiries (0DTE), the day's volume`. */
export const scopeSummary = computed(() =>
  scopeParts(page.value.options, Date.parse(asOf.value ?? ''))
    .map(({ name, text }) =>
      // While the answer for the new expiries is on its way, the page still has those of before.
      name === 'expiries' && / of /.test(expiryCounts.value) ? `${expiryCounts.value} (${text})` : text,
    )
    .join(', '),
);

/** Analyses only the first expiries: those of the session, or the next one. If the page does so already, analyses those of the default. */
export function toggleFirstExpiry(): void {
  const expiry = allExpiries.value.answer?.body.expiry;
  const [first] = expiry && asOf.value ? horizonChoices(expiry, Date.parse(asOf.value)) : [];
  toggleScope('expiries', first && first.value !== FIRST_EXPIRIES ? first.value : 'session');
}

import { computed } from '@preact/signals';
import { type Expiries, shareAnswer } from '../data/page-answers.ts';
import type { Call } from '../operations.ts';
import { type ChosenOptions, OPTION_VALUES } from './address.ts';
import { navigate, page, tickerCall } from './page.ts';
import { asOf, gexView } from './page-market.ts';
import { firstExpiry, type ScopeName, scopeParts, scopeText } from './scope-words.ts';

/** Sets an option. The server's default value removes the option from the address. */
export function setScope(name: ScopeName, value: string): void {
  const { [name]: _, ...others } = page.value.options;
  const initial = name === 'expiries' ? 'all' : OPTION_VALUES[name][0];
  navigate({ options: value === initial || value === '' ? others : { ...others, [name]: value } });
}

/** Sets an option, or sets its default if the option already has this value. */
export function toggleScope(name: ScopeName, value: string): void {
  setScope(name, page.value.options[name] === value ? '' : value);
}

/** All expiries of the page's snapshot, also if the page analyses only some of them. Only the second case needs a request. */
const everyExpiry = shareAnswer<Expiries>(() => {
  const { expiries, ...others } = page.value.options;
  return expiries === undefined || asOf.value === undefined
    ? undefined
    : tickerCall('get_gex_by_expiry', asOf.value, others);
});

/** The state of the request for all expiries. */
export const allExpiries = computed(() => {
  if (page.value.options.expiries !== undefined && asOf.value !== undefined) return everyExpiry.asked.value;
  const { answer, ...rest } = gexView.asked.value;
  return { ...rest, answer: answer && { ...answer, body: answer.body.expiries } };
});

/** Returns the options of a call as one text. Empty if the call has the default options. `moment` is the time of the quotes. */
export function callScope(call: Call | undefined, moment: string | undefined): string {
  return scopeText((call?.args ?? {}) as ChosenOptions, Date.parse(moment ?? ''));
}

/** Returns the options of the page as one text, in the same form. */
export function pageScope(moment: string | undefined): string {
  return scopeText(page.value.options, Date.parse(moment ?? ''));
}

/** The options of the page as one text, without the labels: `1 of 20 expiries, the day's volume`. */
export const scopeSummary = computed(() => {
  const body = allExpiries.value.answer?.body;
  const total = body && new Set(body.expiry).size;
  const shown = gexView.asked.value.answer?.body.expiries;
  const count = shown && new Set(shown.expiry).size;
  return scopeParts(page.value.options, Date.parse(asOf.value ?? ''))
    .map(({ name, text }) =>
      // While the answer for the new expiries is on its way, the page still has all.
      name === 'expiries' && total !== undefined && count !== undefined && count < total
        ? `${count} of ${total} expiries (${text})`
        : text,
    )
    .join(', ');
});

/** Analyses only the first expiry, 0DTE or the next one. If the page does so already, analyses all expiries. */
export function toggleFirstExpiry(): void {
  const first = firstExpiry(allExpiries.value.answer?.body.expiry ?? [], Date.parse(asOf.value ?? ''));
  toggleScope('expiries', first?.value ?? '0dte');
}

import { computed, signal } from '@preact/signals';
import { type Call, type CallValue, WEB_OPERATIONS, type WebOperationName } from '../operations.ts';
import {
  type ChosenOptions,
  chosenOptions,
  FIRST_EXPIRIES,
  formatAddress,
  type PageState,
  parseAddress,
  START,
} from './address.ts';

/** The state of the page. Only `navigate` and the browser's back and forward buttons change this state. */
export const page = signal<PageState>(START);

export const pageTicker = computed(() => page.value.ticker);
export const view = computed(() => page.value.view);

/** The options of the page as arguments of a call, with the expiries. */
export const pageOptions = computed((): ChosenOptions => ({ expiries: FIRST_EXPIRIES, ...page.value.options }));

/** Reads the state from the address, now and whenever the member uses the browser's back or forward button. */
export function followAddress(): void {
  const read = () => (page.value = parseAddress(location.hash));
  read();
  addEventListener('popstate', read);
  addEventListener('hashchange', read);
}

/**
 * Changes some fields of the page state. If `isStep` is false, the change replaces the current entry of the browser history. Callers set
 * `isStep` to false for frequent changes such as zooming.
 */
export function navigate(change: Partial<PageState>, isStep = true): void {
  const merged = { ...page.value, misread: START.misread, ...change };
  const next = { ...merged, options: chosenOptions(merged.options) };
  const address = formatAddress(next);
  if (address === formatAddress(page.value) && page.value.misread.length === 0) return;
  page.value = next;
  if (isStep) history.pushState(null, '', address);
  else history.replaceState(null, '', address);
}

/** Stores a setting of the current view. A value of null removes the setting. */
export function setOwn(name: string, value: string | null, isStep = true): void {
  const { [name]: _, ...others } = page.value.own;
  navigate({ own: value === null ? others : { ...others, [name]: value } }, isStep);
}

/**
 * Returns a call for the ticker of the page at the moment of its snapshot, `asOf`. Without `asOf`, the call requests the newest data. An option
 * that the operation does not have is left out.
 */
export function tickerCall(
  operation: WebOperationName,
  asOf: string | undefined,
  args: Readonly<Record<string, CallValue>> = {},
  name = pageTicker.value,
): Call {
  const { ofMarket, hasFlip } = WEB_OPERATIONS[operation];
  const { smile_dynamics, ...others } = args;
  const smile = hasFlip && smile_dynamics !== undefined && { smile_dynamics };
  return {
    operation,
    args: { ticker: name, ...others, ...smile, ...(ofMarket && asOf !== undefined && { at: asOf }) },
  };
}

/**
 * Returns a call for the history of the ticker up to the snapshot on the page. While the page is live, the call contains no moment, because
 * the server refuses a call with a moment while it computes the levels of the newest snapshots.
 */
export function historyCall(
  operation: WebOperationName,
  asOf: string,
  args: Readonly<Record<string, CallValue>>,
): Call {
  return tickerCall(operation, page.value.at === null ? undefined : asOf, args);
}

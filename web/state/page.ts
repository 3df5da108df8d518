import { computed, signal } from '@preact/signals';
import type { Call, CallValue, WebOperationName } from '../operations.ts';
import { WEB_OPERATIONS } from '../operations.ts';
import { formatAddress, type PageState, parseAddress, START } from './address.ts';

/** The state of the page. Only `navigate` and the browser's own navigation change it. */
export const page = signal<PageState>(START);

export const pageTicker = computed(() => page.value.ticker);
export const view = computed(() => page.value.view);

/** Reads the address, and follows the browser's back and forward. */
export function followAddress(): void {
  const read = () => {
    page.value = parseAddress(location.hash);
  };
  read();
  addEventListener('popstate', read);
  addEventListener('hashchange', read);
}

/** Changes a part of the state. `isStep` false replaces the entry of the browser's history, for changes such as zooming. */
export function navigate(change: Partial<PageState>, isStep = true): void {
  const next = { ...page.value, ...change };
  const address = formatAddress(next);
  if (address === formatAddress(page.value)) return;
  page.value = next;
  if (isStep) history.pushState(null, '', address);
  else history.replaceState(null, '', address);
}

/** Sets or removes a setting of the present view. */
export function setOwn(name: string, value: string | null, isStep = true): void {
  const { [name]: _, ...others } = page.value.own;
  navigate({ own: value === null ? others : { ...others, [name]: value } }, isStep);
}

/** Returns a call on the ticker of the page. `asOf` is the moment of the snapshot that the page shows. Undefined: the newest. */
export function tickerCall(
  operation: WebOperationName,
  asOf: string | undefined,
  args: Readonly<Record<string, CallValue>> = {},
  name = pageTicker.value,
): Call {
  const { ofMarket } = WEB_OPERATIONS[operation];
  return { operation, args: { ticker: name, ...args, ...(ofMarket && asOf !== undefined && { at: asOf }) } };
}

/**
 * Returns a call on what the ticker did up to the moment of the snapshot that the page shows. While the page is live, the call names no moment:
 * the server then also answers while it computes the levels of the newest snapshots, which it refuses for a moment of the past.
 */
export function historyCall(
  operation: WebOperationName,
  asOf: string,
  args: Readonly<Record<string, CallValue>>,
): Call {
  return tickerCall(operation, page.value.at === null ? undefined : asOf, args);
}

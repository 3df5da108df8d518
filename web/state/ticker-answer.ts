import { type Asked, useAnswer } from '../data/page-answers.ts';
import type { Call, CallValue, WebOperationName } from '../operations.ts';
import { tickerCall } from './page.ts';
import { asOf } from './page-market.ts';

/** A call with what is known of its answer: the props of a `ChartPanel`. */
export interface AskedCall<Body> extends Asked<Body> {
  readonly call: Call | undefined;
}

/** Asks a call on the ticker of the page, at its moment. Without arguments, or while the moment is not known, asks nothing. */
export function useTickerAnswer<Body>(
  operation: WebOperationName,
  args: Readonly<Record<string, CallValue>> | undefined,
): AskedCall<Body> {
  const call = asOf.value && args && tickerCall(operation, asOf.value, args);
  return { ...useAnswer<Body>(call || undefined), call: call || undefined };
}

import { type Asked, useAnswer } from '../data/page-answers.ts';
import type { Call, CallValue, WebOperationName } from '../operations.ts';
import { tickerCall } from './page.ts';
import { asOf } from './page-market.ts';

/** A call with the state of its answer. The fields are props of `ChartPanel`. */
export interface AskedCall<Body> extends Asked<Body> {
  readonly call: Call | undefined;
}

/**
 * Sends a call for the ticker and the moment of the page, and returns its answer. The hook sends nothing if `args` is undefined, or while
 * the moment is unknown.
 */
export function useTickerAnswer<Body>(
  operation: WebOperationName,
  args: Readonly<Record<string, CallValue>> | undefined,
): AskedCall<Body> {
  const call = asOf.value && args && tickerCall(operation, asOf.value, args);
  return { ...useAnswer<Body>(call || undefined), call: call || undefined };
}

import { effect, signal, useSignal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { FullAnswer } from '../../src/client/client.ts';
import type { Call } from '../operations.ts';
import { memberKey } from './member-key.ts';
import { ask, isFinal, keptAnswer, keyOf, RequestProblem, type WebAnswer } from './request.ts';

export type Levels = FullAnswer<'get_live_gex_nodes'>;
export type Strikes = FullAnswer<'get_gex_by_strike'>;
export type ProfileAnswer = FullAnswer<'get_gex_profile'>;
export type Expiries = FullAnswer<'get_gex_by_expiry'>;
export type Matrix = FullAnswer<'get_gex_matrix'>;
export type Surface = FullAnswer<'get_volatility_surface'>;
export type HedgingNodes = FullAnswer<'detect_lethal_nodes'>;
export type AggressorFlows = FullAnswer<'get_flow_by_aggressor'>;
export type SignedPrints = FullAnswer<'get_signed_prints'>;
export type WhalePrints = FullAnswer<'get_whale_prints'>;
export type Radar = FullAnswer<'run_strategic_omni_radar'>;
export type History = FullAnswer<'get_gex_history'>;
export type RecordAnswer = FullAnswer<'get_level_record'>;
export type FeedStatusAnswer = FullAnswer<'get_feed_status'>;
export type DayChanges = FullAnswer<'get_day_changes'>;
export type UniverseAnswer = FullAnswer<'get_target_universe'>;

/** One answer with the levels, strikes, profile and expiries of one snapshot. */
export interface GexView {
  readonly levels: Levels;
  readonly strikes: Strikes;
  readonly profile: ProfileAnswer;
  readonly expiries: Expiries;
}

/** A panel's request: answered, failed or running. The previous answer stays until the next one for the same ticker arrives. */
export interface Asked<Body> {
  readonly answer: WebAnswer<Body> | undefined;
  readonly problem: RequestProblem | undefined;
  /** True if a request has been running for more than 150 ms. The delay prevents flicker if an answer arrives quickly. */
  readonly isSlow: boolean;
}

const NOTHING: Asked<never> = { answer: undefined, problem: undefined, isSlow: false };
const SLOW_MS = 150;
const RETRY_MS = 2_000;
/** Debounce interval of calls, in ms. Of calls that change faster, as while a key is held down, only the first and the last are sent. */
const REST_MS = 80;

/**
 * Sends a call to the server, and sends the next call when the argument `call` changes. If the call is undefined, the hook sends nothing.
 * The result belongs to the last call, even if answers arrive in another order. A change of `version` repeats the call, for example after
 * each new snapshot.
 */
export function useAnswer<Body>(call: Call | undefined, version: unknown = undefined): Asked<Body> {
  const asked = useSignal<Asked<Body>>(NOTHING);
  const address = call && keyOf(call);
  useEffect(() => follow(call, asked.peek(), (next) => (asked.value = next)), [address, version, memberKey.value]);
  const { value } = asked;
  // The page never shows the answer for one ticker under the name of another ticker.
  return value.answer && !isOf(value.answer.call, call) ? { ...NOTHING, isSlow: value.isSlow } : value;
}

/**
 * Returns a value after it has not changed for `delayMs`, so that the page asks nothing while the member zooms or replays. `key` is a text that
 * changes with the value. An undefined value is left out: the last one stays.
 */
export function useRested<Value>(
  value: Value | undefined,
  key: string | undefined,
  delayMs: number,
): Value | undefined {
  const [rested, setRested] = useState<Value | undefined>(undefined);
  useEffect(() => {
    if (value === undefined) return;
    const timer = setTimeout(() => setRested(() => value), delayMs);
    return () => clearTimeout(timer);
  }, [key]);
  return rested;
}

/** Returns whether an answer may stay visible while a new call is running: both calls have the same operation and ticker. */
function isOf(shown: Call, wanted: Call | undefined): boolean {
  return wanted !== undefined && shown.operation === wanted.operation && shown.args.ticker === wanted.args.ticker;
}

/** Sends a call once, and reports each change of the request's state. Returns a function that cancels the request. */
function follow<Body>(call: Call | undefined, before: Asked<Body>, report: (asked: Asked<Body>) => void): () => void {
  const present = before.answer && isOf(before.answer.call, call) ? before.answer : undefined;
  // Until the new answer arrives, the page shows the cached answer of the call. A return to live data is therefore immediate.
  const kept = (call && keptAnswer<Body>(call)) ?? present;
  if (call === undefined || memberKey.peek() === null) {
    report(NOTHING);
    return () => {};
  }
  const dropped = new AbortController();
  const slow = setTimeout(() => report({ answer: kept, problem: undefined, isSlow: true }), SLOW_MS);
  let retry: ReturnType<typeof setTimeout> | undefined;
  if (kept !== present || !kept) report({ ...NOTHING, answer: kept });
  const send = () => {
    ask<Body>(call, dropped.signal)
      .then(
        (answer) => !dropped.signal.aborted && report({ answer, problem: undefined, isSlow: false }),
        (error) => {
          if (dropped.signal.aborted) return;
          const problem =
            error instanceof RequestProblem
              ? error
              : new RequestProblem(0, { code: 'page_error', detail: String(error) });
          // If the server does not answer, or answers with status 429 or above, the previous answer stays visible with its age. After any
          // other error, the previous answer is removed, because the error is about this call.
          report({ answer: problem.status === 0 || problem.status >= 429 ? kept : undefined, problem, isSlow: false });
          // Status 503 means that the server is loading its data or computing levels.
          if (problem.status === 503) retry = setTimeout(send, RETRY_MS);
        },
      )
      .finally(() => clearTimeout(slow));
  };
  send();
  return () => {
    clearTimeout(slow);
    clearTimeout(retry);
    dropped.abort(new DOMException('Another call took its place', 'AbortError'));
  };
}

/** A request that the whole page shares, for example for the feed status or the universe. The answer is a signal. */
export interface SharedAnswer<Body> {
  readonly asked: { readonly value: Asked<Body> };
  /** Sends the request again. */
  refresh(): void;
}

/** Sends the call that the function `wanted` returns. The function reads signals, and runs again when a signal changes. */
export function shareAnswer<Body>(wanted: () => Call | undefined): SharedAnswer<Body> {
  const asked = signal<Asked<Body>>(NOTHING);
  const round = signal(0);
  let previous = '';
  let drop = () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  let changedAt = 0;
  effect(() => {
    memberKey.value;
    const current = round.value;
    const call = wanted();
    const address = `${current} ${memberKey.value !== null} ${call ? keyOf(call) : ''}`;
    if (address === previous) return;
    const now = performance.now();
    const isResting = now - changedAt > REST_MS || asked.peek().answer === undefined;
    changedAt = now;
    previous = address;
    clearTimeout(timer);
    drop();
    const begin = () => {
      drop = follow(call, asked.peek(), (next) => (asked.value = next));
    };
    if (asked.peek().answer && call && !isOf(asked.peek().answer!.call, call)) asked.value = NOTHING;
    if (isResting || call === undefined || isFinal(call)) begin();
    else timer = setTimeout(begin, REST_MS);
  });
  return {
    asked,
    refresh() {
      round.value = round.peek() + 1;
    },
  };
}

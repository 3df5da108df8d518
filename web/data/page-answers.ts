import { effect, signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { FullAnswer } from '../../src/client/client.ts';
import type { Call } from '../operations.ts';
import { requestOf } from '../operations.ts';
import { memberKey } from './member-key.ts';
import { ask, isFinal, keptAnswer, RequestProblem, type WebAnswer } from './request.ts';

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
export type EtfContagion = FullAnswer<'evaluate_etf_contagion'>;
export type Radar = FullAnswer<'run_strategic_omni_radar'>;
export type History = FullAnswer<'get_gex_history'>;
export type RecordAnswer = FullAnswer<'get_level_record'>;
export type FeedStatusAnswer = FullAnswer<'get_feed_status'>;
export type UniverseAnswer = FullAnswer<'get_target_universe'>;

/** The levels, strikes, profile and expiries of one snapshot, in one answer. */
export interface GexView {
  readonly levels: Levels;
  readonly strikes: Strikes;
  readonly profile: ProfileAnswer;
  readonly expiries: Expiries;
}

/** What a panel knows: an answer, a problem, or neither yet. An answer stays while the next one of the same ticker is on its way. */
export interface Asked<Body> {
  readonly answer: WebAnswer<Body> | undefined;
  readonly problem: RequestProblem | undefined;
  /** True from 150 ms after a request was sent until it is answered, so that quick answers do not flicker. */
  readonly isSlow: boolean;
}

const NOTHING: Asked<never> = { answer: undefined, problem: undefined, isSlow: false };
const SLOW_MS = 150;
const RETRY_MS = 2_000;
/** While calls change faster than this, for example while a key is held, only the first and the one on which the page rests are sent. */
const REST_MS = 80;

/**
 * Asks a call and asks again whenever it changes. Undefined: nothing to ask. The last call wins, whatever the order of the answers. `version`
 * repeats the same call when it changes, for example with each new snapshot.
 */
export function useAnswer<Body>(call: Call | undefined, version: unknown = undefined): Asked<Body> {
  const asked = useSignal<Asked<Body>>(NOTHING);
  const address = call && addressOf(call);
  useEffect(() => follow(call, asked.peek(), (next) => (asked.value = next)), [address, version, memberKey.value]);
  const { value } = asked;
  // The figures of another ticker are never shown under a new ticker's name.
  return value.answer && !isOf(value.answer.call, call) ? { ...NOTHING, isSlow: value.isSlow } : value;
}

/** Returns whether an answer may stay while a call is on its way: both are of the same operation and ticker. */
function isOf(shown: Call, wanted: Call | undefined): boolean {
  return wanted !== undefined && shown.operation === wanted.operation && shown.args.ticker === wanted.args.ticker;
}

function addressOf(call: Call): string {
  const { path, body } = requestOf(call);
  return `${path} ${body ?? ''}`;
}

/** Asks a call once and reports each change. Returns a function that drops the request. */
function follow<Body>(call: Call | undefined, before: Asked<Body>, report: (asked: Asked<Body>) => void): () => void {
  const present = before.answer && isOf(before.answer.call, call) ? before.answer : undefined;
  // The answer that the same call had before stands until the server has answered again, so that the way back to live takes no time.
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
          // Without an answer from the server, what stood stays with its age. Any other problem is about this very call.
          report({ answer: problem.status === 0 || problem.status >= 429 ? kept : undefined, problem, isSlow: false });
          // The server loads its data, or computes levels.
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

/** A call that the whole page shares, as a signal: the view of the ticker, the feeds, the universe. */
export interface SharedAnswer<Body> {
  readonly asked: { readonly value: Asked<Body> };
  /** Asks again. */
  refresh(): void;
}

/** Follows the call that `wanted` returns. `wanted` reads signals, and is evaluated again when they change. */
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
    const address = `${current} ${memberKey.value !== null} ${call ? addressOf(call) : ''}`;
    if (address === previous) return;
    const now = performance.now();
    const isResting = now - changedAt > REST_MS || asked.peek().answer === undefined;
    changedAt = now;
    previous = address;
    clearTimeout(timer);
    drop();
    const begin = () => {
      drop = follow(call, asked.peek(), (next) => {
        asked.value = next;
      });
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

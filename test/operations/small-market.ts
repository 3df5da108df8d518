import { ClientError } from '../../src/core/errors.ts';
import { runToCompletion } from '../../src/core/steps.ts';
import { closeOf, newYorkDate, previousTradingDay } from '../../src/market/calendar.ts';
import type { CashDividend } from '../../src/market/cash-dividend.ts';
import type { Chain } from '../../src/market/chain.ts';
import { createMarket } from '../../src/market/market.ts';
import type { Close, Print } from '../../src/market/prints.ts';
import { STANDARD_UNIVERSE } from '../../src/market/universe.ts';
import type { Context, Operation } from '../../src/operations/engine/operation.ts';
import {
  extendedView,
  type Performed,
  perform,
  restView,
  toolView,
  type View,
} from '../../src/operations/engine/perform.ts';
import { openStore, type Store } from '../../src/store/sqlite.ts';
import { errorOf } from '../support/thrown.ts';

export interface Holdings {
  readonly chains?: readonly Chain[];
  readonly prints?: readonly Print[];
  readonly closes?: readonly Close[];
  readonly dividends?: readonly CashDividend[];
  /** True for a market of simulated data, false for recorded data. */
  readonly simulated?: boolean;
}

const LARGE_PRINT_MIN_USD = 100_000;

/** An in-memory market with only this data, as operations see it. The wall clock is at `nowMs`. */
export function smallMarket(holdings: Holdings = {}, nowMs = Date.UTC(2026, 0, 6)): { context: Context; store: Store } {
  const store = openStore(':memory:', Date.now);
  holdings.chains?.forEach((chain) => {
    store.saveChain(chain);
  });
  store.sumPrintsFrom(LARGE_PRINT_MIN_USD);
  store.savePrints(holdings.prints ?? []);
  store.saveCloses(holdings.closes ?? []);
  store.saveDividends(holdings.dividends ?? []);
  const context: Context = {
    market: createMarket(store, STANDARD_UNIVERSE, holdings.simulated ?? false, Date.now),
    universe: STANDARD_UNIVERSE,
    nowMs: () => nowMs,
    feedStates: () => store.feedStates(),
    clockSteps: () => store.clockSteps(),
    gapsIn: (fromMs, toMs) => store.gapsIn(fromMs, toMs),
    ...{ staleAfterMs: 60_000, largePrintMinUsd: LARGE_PRINT_MIN_USD, contagionMinUsd: 1_000_000 },
  };
  return { context, store };
}

/** The same chain at the close of the session before. */
export function dayBefore(chain: Chain): Chain {
  return { ...chain, asOf: closeOf(previousTradingDay(newYorkDate(chain.asOf))) };
}

/** The market of a chain alone. The wall clock is at the moment of the chain, unless `nowMs` says otherwise. */
export function contextOf(chain: Chain, nowMs = chain.asOf): Context {
  return smallMarket({ chains: [chain], simulated: chain.simulated }, nowMs).context;
}

type Call<Answer> = (operation: unknown, args: unknown, context: Context) => Answer;

const through =
  (viewOf: (operation: Operation) => View, code: 'invalid_body' | 'invalid_parameter'): Call<Performed> =>
  (operation, args, context) =>
    runToCompletion(perform(viewOf(operation as Operation), args, context, code));

/** The answer of the tool with its provenance, and the same of the REST route. */
export const performTool = through(toolView, 'invalid_body');
export const performRoute = through(restView, 'invalid_parameter');
const performExtended = through(extendedView, 'invalid_body');

type Body = Call<Performed['body']>;

/** The answer of the tool. */
export const call: Body = (...given) => performTool(...given).body;
/** The answer of the REST route. */
export const callRoute: Body = (...given) => performRoute(...given).body;
/** The extended answer. */
export const callExtended: Body = (...given) => performExtended(...given).body;

/** The ClientError that a call throws. */
export function refusalOf(work: () => unknown): { code: string; message: string; hint: string; fields: string[] } {
  const { code, message, hint = '', fieldErrors } = errorOf(ClientError, work);
  return { code, message, hint, fields: fieldErrors.map(({ field }) => field) };
}

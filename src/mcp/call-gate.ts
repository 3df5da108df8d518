import { AccountCounts } from '../access/account-counts.ts';
import { createTurns, type Turns } from './turns.ts';

/** Calls of one account that are under way. Each waits for its turns on the one core: more of them would only wait longer. */
const ACCOUNT_CALLS_MAX = 64;

/** Counts the calls under way by account, and gives them their turns. */
export interface CallGate extends Turns {
  /** Runs the call unless its account has too many under way: undefined then. */
  pass<Result>(accountId: string, call: () => Promise<Result>): Promise<Result> | undefined;
  readonly callsMax: number;
  /** Calls under way, of all accounts. */
  readonly size: number;
}

export function createCallGate(callsMax = ACCOUNT_CALLS_MAX): CallGate {
  const counts = new AccountCounts();
  return {
    ...createTurns(),
    callsMax,
    get size() {
      return counts.total;
    },
    pass(accountId, call) {
      if (counts.of(accountId) >= callsMax) return undefined;
      counts.add(accountId);
      return call().finally(() => counts.remove(accountId));
    },
  };
}

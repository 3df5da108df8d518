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
  const counts = new Map<string, number>();
  return {
    ...createTurns(),
    callsMax,
    get size() {
      return counts.values().reduce((sum, count) => sum + count, 0);
    },
    pass(accountId, call) {
      const count = counts.get(accountId) ?? 0;
      if (count >= callsMax) return undefined;
      counts.set(accountId, count + 1);
      return call().finally(() => {
        const left = counts.get(accountId)! - 1;
        if (left > 0) counts.set(accountId, left);
        else counts.delete(accountId);
      });
    },
  };
}

import { ClientError } from '../core/errors.ts';
import { collectSoon } from '../core/garbage.ts';
import { AccountCounts } from './account-counts.ts';

const MIB = 1024 * 1024;

/** Limits on the bytes in memory for the clients of one account, and for all clients. */
export interface ByteLimits {
  readonly accountBytesMax: number;
  readonly bytesMax: number;
}

/** Even if clients never read, the answers to all accounts take at most half the memory of a process of 1 GiB. */
const LIMITS: ByteLimits = { accountBytesMax: 64 * MIB, bytesMax: 512 * MIB };

/**
 * Bodies and answers cause garbage of several times their size. If all clients read quickly, the counted bytes stay below COLLECT_FROM.
 * While the counted bytes are at or above COLLECT_FROM, garbage is collected each time another COLLECT_EVERY bytes have been counted.
 */
const COLLECT_FROM = 16 * MIB;
const COLLECT_EVERY = 16 * MIB;

/** Counts the bytes in memory for clients: bodies of requests in progress, and answers that clients have not read yet. */
export type ByteBudget = ReturnType<typeof createByteBudget>;

/** Creates a byte budget. `limits` overrides LIMITS. */
export function createByteBudget(limits: Partial<ByteLimits> = {}) {
  const { accountBytesMax, bytesMax } = { ...LIMITS, ...limits };
  const counts = new AccountCounts();
  let sinceCollected = 0;
  return {
    /**
     * Throws `ClientError` if `more` bytes (default: 1) would exceed the limit of the account (429) or of all accounts together (503).
     * Callers check the capacity before they compute anything.
     */
    assertCapacity(account: string, more = 1) {
      if (counts.of(account) + more > accountBytesMax) {
        throw new ClientError(
          'too_many_bytes',
          `Request bodies and unread answers of this account would exceed ${accountBytesMax / MIB} MiB`,
          {
            hint: 'Read the answers to earlier requests, then retry.',
            retryAfterS: 1,
          },
        );
      }
      if (counts.total + more > bytesMax) {
        throw new ClientError('unavailable', 'Request bodies and unread answers of all accounts are at their limit', {
          hint: 'Retry after a second.',
          retryAfterS: 1,
        });
      }
    },
    /** Counts bytes of an account. Returns a function that releases the bytes. Further calls of that function do nothing. */
    reserve(account: string, bytes: number) {
      counts.add(account, bytes);
      sinceCollected += bytes;
      if (sinceCollected >= COLLECT_EVERY) {
        sinceCollected = 0;
        if (counts.total >= COLLECT_FROM) collectSoon();
      }
      let isReserved = true;
      return () => {
        if (isReserved) counts.remove(account, bytes);
        isReserved = false;
      };
    },
    get bytes() {
      return counts.total;
    },
  };
}

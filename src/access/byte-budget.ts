import { ClientError } from '../core/errors.ts';
import { collectSoon } from '../core/garbage.ts';
import { AccountCounts } from './account-counts.ts';

const MIB = 1024 * 1024;

/** Limits on the bytes in memory for the clients of one account, and for all clients. */
export interface ByteLimits {
  readonly accountBytesMax: number;
  readonly bytesMax: number;
}

/** The limits ensure that the answers to all accounts take at most half the memory of a process of 1 GiB, even if clients never read. */
const LIMITS: ByteLimits = { accountBytesMax: 64 * MIB, bytesMax: 512 * MIB };

/**
 * Each body or answer leaves garbage of several times its size. If clients read quickly, the counted bytes stay below COLLECT_FROM. Above
 * COLLECT_FROM, the garbage collector runs after every COLLECT_EVERY counted bytes.
 */
const COLLECT_FROM = 16 * MIB;
const COLLECT_EVERY = 16 * MIB;

/** Counts the bytes that are in memory for clients: bodies of requests in progress, and answers that clients have not read yet. */
export type ByteBudget = ReturnType<typeof createByteBudget>;

/** Creates a byte budget. The fields of `limits` override the defaults in LIMITS. */
export function createByteBudget(limits: Partial<ByteLimits> = {}) {
  const { accountBytesMax, bytesMax } = { ...LIMITS, ...limits };
  const counts = new AccountCounts();
  let sinceCollected = 0;
  return {
    /** Throws `ClientError` if `more` bytes would exceed the limit of the account (429) or of all (503). Call it before any computation. */
    assertCapacity(account: string, more = 1) {
      if (counts.of(account) + more > accountBytesMax) {
        throw new ClientError(
          'too_many_bytes',
          `Request bodies and unread answers of this account would exceed ${accountBytesMax / MIB} MiB`,
          { hint: 'Read the answers to earlier requests, then retry.', retryAfterS: 1 },
        );
      }
      if (counts.total + more > bytesMax) {
        throw new ClientError('unavailable', 'Request bodies and unread answers of all accounts are at their limit', {
          hint: 'Retry after a second.',
          retryAfterS: 1,
        });
      }
    },
    /** Counts bytes of an account. Returns a function that releases the bytes. Only the first call of this function has an effect. */
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

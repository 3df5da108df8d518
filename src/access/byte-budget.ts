import { Failure } from '../errors.ts';
import { collectSoon } from '../garbage.ts';
import { AccountCounts } from './account-counts.ts';

const MIB = 1024 * 1024;

export interface ByteLimits {
  readonly accountBytesMax: number;
  readonly bytesMax: number;
}

/** A service of 1 GiB lives through accounts that never read: each fills its own share, and all together half of it. */
const LIMITS: ByteLimits = { accountBytesMax: 64 * MIB, bytesMax: 512 * MIB };

/**
 * Bodies and answers leave several times their size to the garbage collector. Clients that read at once never hold so much; while some hold
 * more, garbage is collected whenever so many bytes have passed.
 */
const COLLECT_FROM = 16 * MIB;
const COLLECT_EVERY = 16 * MIB;

/** Bytes that stay in memory for clients: bodies of requests under way, and answers that were not read yet. */
export interface ByteBudget {
  /** Throws `Failure` if an account (429), or all together (503), hold as much as they may: ask before anything is computed. */
  refuseFull(account: string, more?: number): void;
  /** Counts bytes of an account. Returns what gives them back, once. */
  hold(account: string, bytes: number): () => void;
  readonly bytes: number;
}

export function createByteBudget(limits: Partial<ByteLimits> = {}): ByteBudget {
  const { accountBytesMax, bytesMax } = { ...LIMITS, ...limits };
  const held = new AccountCounts();
  let passed = 0;
  return {
    refuseFull(account, more = 1) {
      if (held.of(account) + more > accountBytesMax) {
        throw new Failure(
          'too_many_bytes',
          `This account has ${accountBytesMax / MIB} MiB of bodies and unread answers`,
          {
            hint: 'Read the answers to earlier requests, then ask again.',
            retryAfterS: 1,
          },
        );
      }
      if (held.total + more > bytesMax) {
        throw new Failure('unavailable', 'Too many answers wait to be read by their clients', {
          hint: 'Ask again shortly.',
          retryAfterS: 1,
        });
      }
    },
    hold(account, bytes) {
      held.add(account, bytes);
      passed += bytes;
      if (passed >= COLLECT_EVERY) {
        passed = 0;
        if (held.total >= COLLECT_FROM) collectSoon();
      }
      let isHeld = true;
      return () => {
        if (isHeld) held.remove(account, bytes);
        isHeld = false;
      };
    },
    get bytes() {
      return held.total;
    },
  };
}

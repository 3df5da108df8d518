/** Id of the server's `ping` requests. */
export const PING_ID = 'zomma-ping';

/** The time without a message after which a client gets a `ping` request, ms. */
const PING_AFTER_MS = 2 * 60_000;
/** The time without a message after a ping after which a client counts as silent, ms. */
const ANSWER_MS = 60_000;
/** The time after which a client without any message counts as silent, ms. The time is long, because the client may not support pings. */
const FIRST_MESSAGE_MS = 15 * 60_000;

/**
 * Tracks the liveness of a client by its messages. Writes prove nothing, because a half-open TCP connection accepts writes for 15 minutes.
 */
export class Liveness {
  private lastMessageMs = performance.now();
  private hasBegun = false;
  private pingedMs: number | undefined;

  touch(): void {
    this.lastMessageMs = performance.now();
    this.hasBegun = true;
    this.pingedMs = undefined;
  }

  /** Returns true if a ping is due. After a result of true, returns false until the client has sent a message. */
  shouldPing(nowMs: number): boolean {
    if (!this.hasBegun || this.pingedMs !== undefined || this.idleMs(nowMs) < PING_AFTER_MS) return false;
    this.pingedMs = nowMs;
    return true;
  }

  isSilent(nowMs: number): boolean {
    if (!this.hasBegun) return this.idleMs(nowMs) >= FIRST_MESSAGE_MS;
    return this.pingedMs !== undefined && nowMs - this.pingedMs >= ANSWER_MS;
  }

  idleMs(nowMs: number): number {
    return nowMs - this.lastMessageMs;
  }
}

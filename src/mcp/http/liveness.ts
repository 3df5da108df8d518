/** Id of the server's `ping` requests. */
export const PING_ID = 'zomma-ping';

/** A client gets a `ping` request after this time without a message, ms. */
const PING_AFTER_MS = 2 * 60_000;
/** A client counts as silent after this time without a message since the ping, ms. */
const ANSWER_MS = 60_000;
/** A client that has sent no message counts as silent after this time, ms. The time is long, because the client may not support pings. */
const FIRST_MESSAGE_MS = 15 * 60_000;

/** Tracks a client's liveness by its messages, because a half-open TCP connection accepts writes for 15 minutes. */
export class Liveness {
  private lastMessageMs = performance.now();
  private hasBegun = false;
  private pingedMs: number | undefined;

  touch(): void {
    this.lastMessageMs = performance.now();
    this.hasBegun = true;
    this.pingedMs = undefined;
  }

  /** Returns true if a ping is due. After returning true, returns false until the client has sent a message. */
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

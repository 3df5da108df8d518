/** A client that has said nothing for so long is asked whether it is there. */
const ASK_AFTER_MS = 5 * 60_000;
/** And it has so long to answer. */
const ANSWER_MS = 60_000;

/** When a client was heard of last. A half-open connection takes what is written for a quarter of an hour: only an answer shows who is there. */
export class SignsOfLife {
  private heardAt = performance.now();
  private askedAt: number | undefined;

  heard(): void {
    this.heardAt = performance.now();
    this.askedAt = undefined;
  }

  /** Whether it is time to ask; the same is not asked again before it is heard of. */
  shallAsk(nowMs: number): boolean {
    if (this.askedAt !== undefined || nowMs - this.heardAt < ASK_AFTER_MS) return false;
    this.askedAt = nowMs;
    return true;
  }

  isSilent(nowMs: number): boolean {
    return this.askedAt !== undefined && nowMs - this.askedAt >= ANSWER_MS;
  }

  unheardMs(nowMs: number): number {
    return nowMs - this.heardAt;
  }
}

/** A client that has said nothing for so long is asked whether it is there. */
const ASK_AFTER_MS = 2 * 60_000;
/** And it has so long to answer. */
const ANSWER_MS = 60_000;
/** One that never said anything need not understand the question: it has so long to begin. */
const BEGIN_MS = 15 * 60_000;

/** When a client was heard of last. A half-open connection takes what is written for a quarter of an hour: only an answer shows who is there. */
export class SignsOfLife {
  private heardAt = performance.now();
  private hasBegun = false;
  private askedAt: number | undefined;

  heard(): void {
    this.heardAt = performance.now();
    this.hasBegun = true;
    this.askedAt = undefined;
  }

  /** Whether it is time to ask; the same is not asked again before it is heard of. */
  shallAsk(nowMs: number): boolean {
    if (!this.hasBegun || this.askedAt !== undefined || this.unheardMs(nowMs) < ASK_AFTER_MS) return false;
    this.askedAt = nowMs;
    return true;
  }

  isSilent(nowMs: number): boolean {
    if (!this.hasBegun) return this.unheardMs(nowMs) >= BEGIN_MS;
    return this.askedAt !== undefined && nowMs - this.askedAt >= ANSWER_MS;
  }

  unheardMs(nowMs: number): number {
    return nowMs - this.heardAt;
  }
}

/** The record of a member: a person or program that the operator's membership system knows. */
export interface Member {
  /** Canonical lower-case UUID. Answers and logs never contain the UUID. */
  readonly uuid: string;
  readonly tier: string;
  readonly status: 'active' | 'revoked';
  /** When the membership expires, ms since the epoch. Null if the membership does not expire. */
  readonly expiresAt: number | null;
  /** SHA-256 of the API key, in hex. The store never contains a key. */
  readonly keyDigest: string;
}

/** A member's linked Telegram handle, and the signals that another service may send to it. Zomma sends no signals. */
export interface TelegramLink {
  /** The full handle or id. Answers show the handle or id masked. */
  readonly telegramId: string;
  /** Stored value: whether another service may send signals about options that expire in one day (1DTE) to the handle. */
  readonly routing1dte: boolean;
  /** Stored value: whether another service may send radar signals to the handle. */
  readonly routingRadar: boolean;
  /** The moment of the last ping, ms since the epoch. So far, only linking the handle counts as a ping. Null if there was no ping. */
  readonly lastPingAt: number | null;
}

/** Stores members and their links. A read also returns the latest writes of other processes. */
export interface MemberStore {
  /** Returns a text that changes with every write: at once after a write of this process, within 10 ms after a write of another process. */
  version(): string;
  member(uuid: string): Member | undefined;
  memberByKeyDigest(keyDigest: string): Member | undefined;
  members(): Member[];
  /** Adds the member, or replaces the member with the same UUID. */
  saveMember(member: Member): void;
  telegramLink(uuid: string): TelegramLink | undefined;
  saveTelegramLink(uuid: string, link: TelegramLink): void;
}

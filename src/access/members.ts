/** The record of a member. A member is a person or a program in the operator's membership system. */
export interface Member {
  /** The UUID in canonical lower-case form. Answers and logs never contain the UUID. */
  readonly uuid: string;
  readonly tier: string;
  readonly status: 'active' | 'revoked';
  /** The time at which the membership expires, ms since the epoch. Null if the membership does not expire. */
  readonly expiresAt: number | null;
  /** The id of the member's account. It never changes, also if the key is replaced. */
  readonly accountId: string;
  /** The number of times that the operator has replaced the key. */
  readonly generation: number;
  /** SHA-256 of the API key, in hex. The store never contains a key. */
  readonly keyDigest: string;
  /** SHA-256 of the key from before the last rotation of the secret. Null if only the present key is valid. */
  readonly previousDigest: string | null;
  /** The time until which the previous key is valid, ms since the epoch. Null if there is no previous key. */
  readonly previousUntil: number | null;
}

/** A member's linked Telegram handle, and the signals that another service may send to the handle. Zomma sends no signals. */
export interface TelegramLink {
  /** The complete handle or id. Answers show the handle or id masked. */
  readonly telegramId: string;
  /** A stored value: whether another service may send signals about options that expire in one day (1DTE) to the handle. */
  readonly routing1dte: boolean;
  /** A stored value: whether another service may send radar signals to the handle. */
  readonly routingRadar: boolean;
  /** The time of the last ping, ms since the epoch, or null. At present, a ping is recorded only when the handle is linked. */
  readonly lastPingAt: number | null;
}

/** Stores members and their links. Reads include the latest writes of other processes. */
export interface MemberStore {
  /** Returns a text that changes with every write. A write of another process changes the text within 10 ms. */
  version(): string;
  member(uuid: string): Member | undefined;
  /** Returns the member whose present or previous key has this digest. The previous key may be out of date. */
  memberByKeyDigest(keyDigest: string): Member | undefined;
  members(): Member[];
  /** Adds the member. Replaces an existing member with the same UUID. */
  saveMember(member: Member): void;
  telegramLink(uuid: string): TelegramLink | undefined;
  saveTelegramLink(uuid: string, link: TelegramLink): void;
}

/** The members without the writes, which the ledger decides. */
export type KnownMembers = Omit<MemberStore, 'saveMember' | 'saveTelegramLink'>;

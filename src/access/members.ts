/** The record of a member: a person or program that the operator's membership system knows. */
export interface Member {
  /** Canonical lower-case UUID. Answers and logs never contain it. */
  readonly uuid: string;
  readonly tier: string;
  readonly status: 'active' | 'revoked';
  /** ms since the epoch. null: the membership does not expire. */
  readonly expiresAt: number | null;
  /** SHA-256 of the API key, in hex. The store never contains a key. */
  readonly keyDigest: string;
}

/** A member's linked messaging account, and which messages are routed to it. */
export interface TelegramLink {
  /** The full handle of the linked account. Answers show it masked. */
  readonly telegramId: string;
  readonly routing1dte: boolean;
  readonly routingRadar: boolean;
  /** ms since the epoch. null: there was no ping. */
  readonly lastPingAt: number | null;
}

/** Stores members and their links. Reads see writes of other processes at once. */
export interface MemberStore {
  /** Changes with every write: at once for a write of this process, within 10 ms for a write of another process. */
  version(): string;
  member(uuid: string): Member | undefined;
  memberByKeyDigest(keyDigest: string): Member | undefined;
  members(): Member[];
  /** Adds the member, or replaces the member with the same UUID. */
  saveMember(member: Member): void;
  telegramLink(uuid: string): TelegramLink | undefined;
  saveTelegramLink(uuid: string, link: TelegramLink): void;
}

/** A person or account with access, as the operator's membership system knows it. */
export interface Member {
  /** Canonical lower-case UUID. Never leaves the process in answers or logs. */
  readonly uuid: string;
  readonly tier: string;
  readonly status: 'active' | 'revoked';
  /** ms since the epoch; null: does not expire. */
  readonly expiresAt: number | null;
  /** SHA-256 of the API key, hex: the store never holds a key. */
  readonly keyDigest: string;
}

/** A member's linked messaging account and what is routed to it. */
export interface TelegramLink {
  /** The linked handle in full; answers show it masked. */
  readonly telegramId: string;
  readonly routing1dte: boolean;
  readonly routingRadar: boolean;
  /** ms since the epoch; null: never pinged. */
  readonly lastPingAt: number | null;
}

/** What access keeps. Reads see other processes' writes at once. */
export interface MemberStore {
  /** Changes with each write of this process at once, and of another's within 10 ms. */
  version(): string;
  member(uuid: string): Member | undefined;
  memberByKeyDigest(keyDigest: string): Member | undefined;
  members(): Member[];
  /** Adds the member, or replaces the one of the same uuid. */
  saveMember(member: Member): void;
  telegramLink(uuid: string): TelegramLink | undefined;
  saveTelegramLink(uuid: string, link: TelegramLink): void;
}

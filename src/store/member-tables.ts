import { type Database, SQLiteError } from 'bun:sqlite';
import type { Member, MemberStore, TelegramLink } from '../access/members.ts';
import { ClientError } from '../core/errors.ts';

/** Creates the functions that read and write members, who can be revoked but are never removed, and their links to messaging accounts. */
export function memberTables(db: Database): Omit<MemberStore, 'version'> {
  const columns = `uuid, tier, status, expires_at AS expiresAt, account AS accountId, generation, key_digest AS keyDigest,
    previous_digest AS previousDigest, previous_until AS previousUntil`;
  const selectByUuid = db.prepare<Member, [string]>(`SELECT ${columns} FROM members WHERE uuid = ?`);
  const selectByDigest = db.prepare<Member, [string]>(
    `SELECT ${columns} FROM members WHERE key_digest = ?1 OR previous_digest = ?1`,
  );
  const selectAll = db.prepare<Member, []>(`SELECT ${columns} FROM members ORDER BY uuid`);
  const upsertMember = db.prepare<null, [MemberValues]>(
    `INSERT INTO members (uuid, tier, status, expires_at, account, generation, key_digest, previous_digest, previous_until)
     VALUES ($uuid, $tier, $status, $expiresAt, $accountId, $generation, $keyDigest, $previousDigest, $previousUntil)
     ON CONFLICT (uuid) DO UPDATE SET tier = $tier, status = $status, expires_at = $expiresAt, generation = $generation,
       key_digest = $keyDigest, previous_digest = $previousDigest, previous_until = $previousUntil`,
  );
  const selectLink = db.prepare<LinkRow, [string]>(
    `SELECT telegram_id AS telegramId, routing_1dte AS routing1dte, routing_radar AS routingRadar,
       last_ping_at AS lastPingAt
     FROM telegram_links WHERE uuid = ?`,
  );
  const upsertLink = db.prepare<null, [LinkRow & { uuid: string }]>(
    `INSERT INTO telegram_links (uuid, telegram_id, routing_1dte, routing_radar, last_ping_at)
     VALUES ($uuid, $telegramId, $routing1dte, $routingRadar, $lastPingAt)
     ON CONFLICT (uuid) DO UPDATE SET telegram_id = $telegramId, routing_1dte = $routing1dte,
       routing_radar = $routingRadar, last_ping_at = $lastPingAt`,
  );

  return {
    member: (uuid) => selectByUuid.get(uuid) ?? undefined,
    memberByKeyDigest: (keyDigest) => selectByDigest.get(keyDigest) ?? undefined,
    members: () => selectAll.all(),
    saveMember: (member) => {
      upsertMember.run({ ...member });
    },

    telegramLink(uuid) {
      const row = selectLink.get(uuid);
      if (row === null) return undefined;
      return { ...row, routing1dte: row.routing1dte === 1, routingRadar: row.routingRadar === 1 };
    },

    /** Throws `ClientError('not_found')` if the member does not exist. */
    saveTelegramLink(uuid, link) {
      try {
        upsertLink.run({
          ...link,
          uuid,
          routing1dte: Number(link.routing1dte),
          routingRadar: Number(link.routingRadar),
        });
      } catch (error) {
        if (!(error instanceof SQLiteError && error.code === 'SQLITE_CONSTRAINT_FOREIGNKEY')) throw error;
        throw new ClientError('not_found', 'The member does not exist', { hint: 'Add the member first.' });
      }
    },
  };
}

/** The fields of `Member`. The type is an alias, because bun:sqlite does not accept an interface as the type of named parameters. */
type MemberValues = Pick<Member, keyof Member>;

/** A link to a messaging account as SQLite stores it: booleans are 0 and 1. */
type LinkRow = Omit<TelegramLink, Flag> & Record<Flag, number>;
type Flag = 'routing1dte' | 'routingRadar';

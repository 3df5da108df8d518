import { cleaned, shownJson } from '../core/clean-text.ts';
import { OperatorError } from '../core/errors.ts';
import { type CliCommand, DATA_PLACE } from './cli-command.ts';
import { print } from './csv/streams.ts';

/** Adds `zomma audit`, which lists the changes to members and keys. */
export function addAudit(program: CliCommand): void {
  program
    .command('audit')
    .description(
      'List the audit trail: each change to members and keys with its time, who made it, from where, and its result. It has no UUIDs and no keys: an account is named by its id, as in the log.',
    )
    .option('--since <time>', 'list only entries from this time on: ISO 8601, or an age such as 24h or 7d', sinceOf)
    .json()
    .settings(DATA_PLACE)
    .examples('zomma audit --since 7d', 'zomma audit --since 2026-11-01 --json --data-dir /var/lib/zomma')
    .action(async (options) => {
      const { withStore } = await import('../server/stored-data.ts');
      const stored = await withStore(options, 'read', (store) => store.auditSince(options.since ?? 0));
      const entries = stored.map(({ atMs, ...entry }) => ({ at: new Date(atMs).toISOString(), ...entry }));
      if (options.json) print(shownJson({ audit: entries }));
      else if (entries.length === 0) print('The audit trail has no entries for this time.');
      else
        for (const { at, action, result, account, actor, client, detail } of entries) {
          const parts = [account && `account ${account}`, `by ${actor}`, client && `from ${client}`, detail];
          print(cleaned(`${at}  ${action.padEnd(16)} ${result.padEnd(9)} ${parts.filter(Boolean).join(', ')}`));
        }
    });
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a time, or an age that is counted back from now. Returns ms since the epoch. */
function sinceOf(text: string): number {
  const [, number, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const sinceMs = number === undefined ? Date.parse(text) : Date.now() - Number(number) * UNIT_MS[unit!]!;
  if (!Number.isNaN(sinceMs)) return sinceMs;
  throw new OperatorError(`--since "${text}" is not a time`, 'Use e.g. --since 2026-11-01 or --since 7d.');
}

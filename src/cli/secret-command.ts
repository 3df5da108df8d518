import { shownJson } from '../core/clean-text.ts';
import { type CliCommand, DATA_PLACE } from './cli-command.ts';
import { print } from './csv/streams.ts';
import { durationOf } from './duration.ts';

/** Adds `zomma secret`, which rotates the secret from which all keys are derived. A running server applies the rotation within 10 ms. */
export function addSecret(program: CliCommand): void {
  program
    .command('secret')
    .description('Rotate the secret from which the keys of all members are derived.')
    .command('rotate')
    .description(
      'Replace the secret, and with it the key of every member, also while a server runs. Each member fetches the new key as before. Without --grace, the old keys stop working at once. Make a new backup afterwards: an old backup restores the old keys.',
    )
    .option(
      '--grace <time>',
      'time for which the old keys still work, e.g. 12h or 7d. Keys from before an earlier rotation stop working at once',
      durationOf('--grace'),
    )
    .json()
    .settings(DATA_PLACE)
    .examples('zomma secret rotate --grace 7d --data-dir /var/lib/zomma', 'zomma secret rotate --json')
    .action(async (options) => {
      const { withStore } = await import('../server/stored-data.ts');
      const graceMs = options.grace ?? 0;
      const { count, untilMs } = await withStore(options, 'write', (_, access) => access.rotateSecret(graceMs));
      const until = untilMs === null ? null : new Date(untilMs).toISOString();
      if (options.json) print(shownJson({ members: count, old_keys_until: until }));
      else
        print(
          `${count} ${count === 1 ? 'member has a new key' : 'members have new keys'}. ${until === null ? 'The old keys do not work anymore.' : `The old keys work until ${until}.`}`,
        );
    });
}

import { constants } from 'node:os';
import { shownJson } from '../core/clean-text.ts';
import { OperatorError } from '../core/errors.ts';
import { EXIT_CODES } from '../core/exit-codes.ts';
import { readNamedFile } from '../settings/setting-sources.ts';
import type { CliCommand } from './cli-command.ts';
import { print } from './csv/streams.ts';
import { durationOf } from './duration.ts';
import { textOfError } from './error-text.ts';

/** Adds `zomma backup` and `zomma restore`. */
export function addBackup(program: CliCommand): void {
  const backup = program
    .command('backup')
    .argument('<dest>', 'folder to create; with --every, the folder of all backups, which must exist')
    .description(
      'Back up the data folder, also while a server runs: a checked copy of one moment, with a manifest. The secret, on which all API keys depend, is left out unless --with-secret is given.',
    )
    .settings(['dataDir', 'store'])
    .aloneOnly(POSTGRES_HINT)
    .option('--with-secret', 'include the secret, encrypted under a passphrase')
    .option(...PASSPHRASE_FILE)
    .option(
      '--every <time>',
      'make a backup every so often until the command is ended, e.g. 5m or 1d. A round that fails is reported on standard error, and the next one is tried',
      durationOf('--every'),
    )
    .option('--keep <n>', 'with --every: number of backups to keep', countOf, 7)
    .json()
    .examples(
      'zomma backup /backup/zomma-monday --data-dir /var/lib/zomma',
      'zomma backup /backup/zomma-full --with-secret --passphrase-file /root/zomma.pass',
      'zomma backup /backup/zomma --every 1d --keep 14',
      'zomma backup verify /backup/zomma-monday',
    )
    .action(async (dest: string, options) => {
      const { backUpData } = await import('../server/backups.ts');
      const passphrase = options.withSecret ? passphraseIn(options.passphraseFile, '--with-secret') : undefined;
      const stop = new AbortController();
      for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort(name));
      const backUp = async (to: string) => {
        const startedAt = performance.now();
        const { manifest, isRecorded } = await backUpData(options.dataDir, to, { passphrase, signal: stop.signal });
        const bytes = Object.values(manifest.files).reduce((sum, each) => sum + each.bytes, 0);
        print(
          options.json
            ? shownJson({ backup: to, ...manifest })
            : `${to}: ${(bytes / 1e6).toFixed(1)} MB in ${secondsText(performance.now() - startedAt)}, schema ${manifest.schema}, checked`,
        );
        if (!isRecorded)
          process.stderr.write(
            `The backup is whole, but this user may not write to ${options.dataDir}, so \`zomma check\` and the metrics do not know of it.\n`,
          );
      };
      try {
        if (options.every === undefined) await backUp(dest);
        else process.exitCode = await backUpEvery(options.every, { dest, keep: options.keep, stop, backUp });
      } catch (error) {
        if (!stop.signal.aborted) throw error;
        process.stderr.write('zomma: interrupted before the backup was complete. Nothing of it remains.\n');
        process.exitCode = 128 + constants.signals[stop.signal.reason as NodeJS.Signals];
      }
    });

  backup
    .command('verify')
    .argument('<backup>', 'folder of a backup, or a folder of backups, of which the newest is taken')
    .description(
      'Rehearse a restore: restore a backup into a temporary folder, and compare it with its manifest. The secret of the data folder, or the one in the backup, proves who made the backup.',
    )
    .settings(['dataDir', 'store'])
    .option(...PASSPHRASE_FILE)
    .json()
    .examples(
      'zomma backup verify /backup/zomma --data-dir /var/lib/zomma',
      'zomma backup verify /backup/zomma-full --passphrase-file /root/zomma.pass',
    )
    .action(async (from: string, _, command: CliCommand) => {
      const { rehearseRestore } = await import('../server/backups.ts');
      // The flags that `zomma backup` also has are parsed as its flags, even after `verify`.
      const options = command.optsWithGlobals();
      const passphrase = options.passphraseFile && passphraseIn(options.passphraseFile, '');
      const { path, manifest, isVerified } = await rehearseRestore(from, { dataDir: options.dataDir, passphrase });
      const rows = Object.values(manifest.rows).reduce((sum, each) => sum + each, 0);
      print(
        options.json
          ? shownJson({ backup: path, origin_verified: isVerified, ...manifest })
          : `${path}: whole, origin ${isVerified ? 'verified' : 'not verified'}. Made ${manifest.made_at} by ${manifest.version}, schema ${manifest.schema}, ${rows} rows`,
      );
    });

  program
    .command('restore')
    .argument('<backup>', 'folder of a backup, or a folder of backups, of which the newest whole one is taken')
    .description(
      'Restore a backup into a data folder that has no data, and on which no server runs. The folder may have the secret of the earlier folder, which proves who made the backup.',
    )
    .settings(['dataDir', 'store'])
    .aloneOnly(POSTGRES_HINT)
    .option(...PASSPHRASE_FILE)
    .option('--unverified', 'restore a backup although nothing proves who made it')
    .examples(
      'zomma restore /backup/zomma --data-dir /var/lib/zomma',
      'zomma restore /backup/zomma-full --passphrase-file /root/zomma.pass',
    )
    .action(async (from: string, options) => {
      const { restoreData } = await import('../server/backups.ts');
      const passphrase = options.passphraseFile && passphraseIn(options.passphraseFile, '');
      const isUnverified = options.unverified === true;
      const onSkipped = ({ message }: Error) =>
        process.stderr.write(`zomma: not whole, so an older backup is taken: ${message}\n`);
      const { path, manifest, hasSecret } = await restoreData(from, {
        ...options,
        passphrase,
        isUnverified,
        onSkipped,
      });
      const age = secondsText(Date.now() - Date.parse(manifest.made_at));
      print(`${options.dataDir}: restored ${path}. Its data are of ${manifest.made_at}, ${age} ago`);
      const members = manifest.rows.members ?? 0;
      if (!hasSecret && members > 0) {
        print(
          `The backup has no secret. Put the file "secret" of the earlier data folder into ${options.dataDir}, or run \`zomma secret rotate\`, which gives every member a new key.`,
        );
      }
    });
}

const POSTGRES_HINT =
  'Use the tools of Postgres, such as pg_dump, and keep a copy of the file "secret". `zomma migrate` makes a data folder of the database.';

interface EveryOptions {
  readonly dest: string;
  readonly keep: number;
  readonly stop: AbortController;
  readonly backUp: (to: string) => Promise<void>;
}

/** Makes backups until the signal. Resolves with the exit code: a failure if the last round that ended made no backup. */
async function backUpEvery(everyMs: number, { dest, keep, stop, backUp }: EveryOptions): Promise<number> {
  const { errorPriority } = await import('../core/log.ts');
  const { repeatBackups } = await import('../server/repeated-backups.ts');
  const report = (text: string) => process.stderr.write(`${errorPriority()}${text.replace(/\n\s*/g, '. ')}\n`);
  const isMade = await repeatBackups({
    ...{ folder: dest, everyMs, keep, signal: stop.signal, backUp },
    onRemoved: (path) => print(`${path}: removed`),
    onError: (error) => report(`${new Date().toISOString()} no backup was made: ${textOfError(error)}`),
    onOverrun: (tookMs, leftOut) =>
      report(
        `${new Date().toISOString()} a round took ${secondsText(tookMs)}, longer than --every: ${leftOut} left out`,
      ),
  });
  return (isMade ? EXIT_CODES.success : EXIT_CODES.failure).code;
}

function secondsText(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

const PASSPHRASE_FILE = ['--passphrase-file <file>', 'file with the passphrase that encrypts the secret'] as const;

function passphraseIn(file: string | undefined, flag: string): string {
  if (file === undefined) {
    throw new OperatorError(`${flag} needs --passphrase-file`, 'Write a passphrase to a file that only you may read.');
  }
  const text = readNamedFile(file, '--passphrase-file', 'credential').trim();
  if (text.length >= 8) return text;
  throw new OperatorError(`the passphrase in ${file} has ${text.length} characters`, 'Use at least 8 characters.');
}

function countOf(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new OperatorError(`--keep "${text}" is not a number of backups`, 'Use 1 or more, e.g. --keep 7.');
}

import { join } from 'node:path';
import { shownJson } from '../core/clean-text.ts';
import { OperatorError } from '../core/errors.ts';
import { readNamedFile } from '../settings/setting-sources.ts';
import type { CliCommand } from './cli-command.ts';
import { print } from './csv/streams.ts';
import { durationOf } from './duration.ts';

/** Adds `zomma backup` and `zomma restore`. */
export function addBackup(program: CliCommand): void {
  const backup = program
    .command('backup')
    .argument('<dest>', 'folder to create; with --every, the folder of all backups')
    .description(
      'Back up the data folder, also while a server runs: a checked copy of one moment, with a manifest. The secret, on which all API keys depend, is left out unless --with-secret is given.',
    )
    .settings(['dataDir'])
    .option('--with-secret', 'include the secret, encrypted under a passphrase')
    .option(...PASSPHRASE_FILE)
    .option(
      '--every <time>',
      'make a backup every so often until the command is ended, e.g. 1h or 1d',
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
      const { backUpData, removeOldBackups } = await import('../server/stored-data.ts');
      const passphrase = options.withSecret ? passphraseIn(options.passphraseFile, '--with-secret') : undefined;
      const make = async (to: string) => {
        const { manifest, isRecorded } = await backUpData(options.dataDir, to, { nowMs: Date.now(), passphrase });
        const bytes = Object.values(manifest.files).reduce((sum, each) => sum + each.bytes, 0);
        print(
          options.json
            ? shownJson({ backup: to, ...manifest })
            : `${to}: ${(bytes / 1e6).toFixed(1)} MB, schema ${manifest.schema}, checked`,
        );
        if (!isRecorded)
          process.stderr.write(
            `The backup is whole, but this user may not write to ${options.dataDir}, so \`zomma check\` and the metrics do not know of it.\n`,
          );
      };
      if (options.every === undefined) return make(dest);
      const stopped = Promise.withResolvers<true>();
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.resolve(true));
      for (;;) {
        const name = new Date().toISOString().replace(/[:.]/g, '-');
        await make(join(dest, name));
        for (const old of removeOldBackups(dest, options.keep)) print(`${old}: removed`);
        if (await Promise.race([stopped.promise, Bun.sleep(options.every)])) return;
      }
    });

  backup
    .command('verify')
    .argument('<backup>', 'folder of a backup')
    .description(
      'Rehearse a restore: restore a backup into a temporary folder, and compare it with its manifest. The secret of the data folder, or the one in the backup, proves who made the backup.',
    )
    .settings(['dataDir'])
    .option(...PASSPHRASE_FILE)
    .json()
    .examples(
      'zomma backup verify /backup/zomma-monday --data-dir /var/lib/zomma',
      'zomma backup verify /backup/zomma-full --passphrase-file /root/zomma.pass',
    )
    .action(async (from: string, _, command: CliCommand) => {
      const { rehearseRestore } = await import('../server/stored-data.ts');
      // The flags that `zomma backup` also has are parsed as its flags, even after `verify`.
      const options = command.optsWithGlobals();
      const passphrase = options.passphraseFile && passphraseIn(options.passphraseFile, '');
      const { manifest, isVerified } = await rehearseRestore(from, { dataDir: options.dataDir, passphrase });
      const rows = Object.values(manifest.rows).reduce((sum, each) => sum + each, 0);
      print(
        options.json
          ? shownJson({ backup: from, origin_verified: isVerified, ...manifest })
          : `${from}: whole, origin ${isVerified ? 'verified' : 'not verified'}. Made ${manifest.made_at} by ${manifest.version}, schema ${manifest.schema}, ${rows} rows`,
      );
    });

  program
    .command('restore')
    .argument('<backup>', 'folder of a backup')
    .description(
      'Restore a backup into a data folder that has no data, and on which no server runs. The folder may have the secret of the earlier folder, which proves who made the backup.',
    )
    .settings(['dataDir'])
    .option(...PASSPHRASE_FILE)
    .option('--unverified', 'restore a backup although nothing proves who made it')
    .examples(
      'zomma restore /backup/zomma-monday --data-dir /var/lib/zomma',
      'zomma restore /backup/zomma-full --passphrase-file /root/zomma.pass',
    )
    .action(async (from: string, options) => {
      const { restoreData } = await import('../server/stored-data.ts');
      const passphrase = options.passphraseFile && passphraseIn(options.passphraseFile, '');
      const isUnverified = options.unverified === true;
      const { manifest, hasSecret } = await restoreData(from, { ...options, passphrase, isUnverified });
      print(`${options.dataDir}: restored the backup of ${manifest.made_at}`);
      const members = manifest.rows.members ?? 0;
      if (!hasSecret && members > 0) {
        print(
          `The backup has no secret. Put the file "secret" of the earlier data folder into ${options.dataDir}, or run \`zomma secret rotate\`, which gives every member a new key.`,
        );
      }
    });
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

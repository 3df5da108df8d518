import { isatty } from 'node:tty';
import { shownJson } from '../core/clean-text.ts';
import { OperatorError } from '../core/errors.ts';
import { type CliCommand, DATA_PLACE } from './cli-command.ts';
import { print, writeOut } from './csv/streams.ts';

const transfer = () => import('../server/transfer-members.ts');

/** Adds `zomma members export` and `zomma members import`, which carry members from one server to another. */
export function addMemberTransfer(members: CliCommand): void {
  members
    .command('export')
    .argument('<file>', 'file to write, or - for standard output. An earlier export is replaced')
    .description(
      'Write the members to a file for another server: tiers, expiries, revocations, digests of the keys, Telegram links, and the audit trail of their accounts. The file is encrypted under the secret, which both servers need. It contains no keys.',
    )
    .settings(DATA_PLACE)
    .examples(
      'zomma members export members.zomma --data-dir /var/lib/zomma',
      'zomma members export - | ssh second zomma members import - --sync',
    )
    .action(async (path: string, options) => {
      const isOut = path === '-';
      if (isOut && isatty(1))
        throw new OperatorError('the export is binary', 'Name a file, or pipe the output into another command.');
      const { exportMembers, writeExport } = await transfer();
      const { file, count } = await exportMembers(options, Date.now());
      if (isOut) return void (await writeOut(file));
      writeExport(path, file);
      print(`${path}: ${count} ${count === 1 ? 'member' : 'members'}`);
    });

  members
    .command('import')
    .argument('<file>', 'file of `zomma members export`, or - for standard input')
    .description(
      'Take in the members of another server, also while this server runs. A member who is revoked in the file or here is revoked afterwards: an import never lifts a revocation, and never makes a replaced key valid. Of tier and expiry, the later change counts. A repeated import changes nothing.',
    )
    .option(
      '--sync',
      'make this server equal to the file: its tiers and expiries count, and members who are not in the file are revoked',
    )
    .settings(DATA_PLACE)
    .json()
    .examples('zomma members import members.zomma --data-dir /var/lib/zomma', 'zomma members import - --sync --json')
    .action(async (path: string, options) => {
      const { importMembers } = await transfer();
      const isIn = path === '-';
      if (isIn && isatty(0)) throw new OperatorError('there is no input', 'Name a file, or pipe an export in.');
      const bytes = isIn ? await Bun.stdin.bytes() : await bytesOf(path);
      const name = isIn ? 'standard input' : path;
      const done = await importMembers(options, { bytes, name, isSync: options.sync === true });
      const { added, changed, revoked, staysRevoked, audit } = done;
      const madeAt = new Date(done.madeAtMs).toISOString();
      if (options.json) {
        print(shownJson({ made_at: madeAt, added, changed, revoked, stays_revoked: staysRevoked, audit }));
        return;
      }
      const parts = [`${added} added`, `${changed} changed`, `${revoked} revoked`, `audit entries: ${audit}`];
      print(`members of ${madeAt}: ${parts.join(', ')}`);
      if (staysRevoked > 0)
        print(
          `${staysRevoked} active in the file, but revoked here, and so it stays. \`zomma members add\` lifts a revocation.`,
        );
    });
}

async function bytesOf(path: string): Promise<Uint8Array> {
  const file = Bun.file(path);
  if (await file.exists()) return file.bytes();
  throw new OperatorError(`there is no file ${path}`, 'Name a file of `zomma members export`.');
}

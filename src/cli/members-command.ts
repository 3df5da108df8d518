import type { Access } from '../access/access.ts';
import { canonicalUuid } from '../access/api-key.ts';
import { DEFAULT_TIER, TIERS } from '../access/tiers.ts';
import { shownJson } from '../core/clean-text.ts';
import { OperatorError } from '../core/errors.ts';
import { type CliCommand, DATA_PLACE } from './cli-command.ts';
import { print } from './csv/streams.ts';
import { addMemberTransfer } from './transfer-members-command.ts';

const stored = () => import('../server/stored-data.ts');

/** Adds `zomma members`, which manages who has access. A running server applies each change within 10 ms. */
export function addMembers(program: CliCommand): void {
  const members = program
    .command('members')
    .description('Add, list, revoke and link members, and carry them to another server.');
  const uuid = [
    '--uuid <uuid>',
    "the member's UUID in the membership system (required). With -, the command reads it from standard input, so that it is in no list of processes and no history of a shell",
  ] as const;

  members
    .command('add')
    .description(
      'Add a member, or change a known member: the command replaces the tier and the expiry (an omitted option gets its default) and lifts a revocation. Prints the API key, which does not change for a known member: see rekey.',
    )
    .requiredOption(...uuid)
    .settings(DATA_PLACE)
    .choice(
      '--tier <tier>',
      'tier of the membership. A member of the tier "none" has no access. The other tiers differ in name only',
      Object.keys(TIERS),
      DEFAULT_TIER,
    )
    .option('--expires <date>', 'end of the membership, ISO 8601; without this option, the membership does not end')
    .json()
    .examples(
      'zomma members add --uuid 7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90',
      'zomma members add --uuid 7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90 --tier pro --expires 2027-12-31T23:59:59Z --json',
      'zomma members add --uuid - < uuid.txt',
    )
    .action(async (options) => {
      const request = { uuid: await uuidOf(options.uuid), tier: options.tier, expiresAt: expiry(options.expires) };
      printKey(
        await (await stored()).withStore(options, 'write', (_, access) => access.addMember(request)),
        options.json,
      );
    });

  members
    .command('list')
    .description('List the members.')
    .json()
    .settings(DATA_PLACE)
    .examples('zomma members list', 'zomma members list --json --data-dir /var/lib/zomma')
    .action(async (options) => {
      const rows = await (await stored()).withStore(options, 'read', (store) =>
        store.members().map(({ uuid, tier, status, expiresAt }) => ({
          uuid,
          tier,
          status,
          expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
        })),
      );
      if (options.json) print(shownJson({ members: rows }));
      else if (rows.length === 0) print('No members yet. Add one with: zomma members add --uuid UUID');
      else
        for (const row of rows)
          print(`${row.uuid}  ${row.tier.padEnd(8)} ${row.status.padEnd(8)} ${row.expires_at ?? 'does not expire'}`);
    });

  members
    .command('revoke')
    .description("Revoke a member's access at once.")
    .requiredOption(...uuid)
    .settings(DATA_PLACE)
    .examples('zomma members revoke --uuid 7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90')
    .action(async (options) => {
      const uuid = await uuidOf(options.uuid);
      const member = await (await stored()).withStore(options, 'write', (_, access) => access.revoke(uuid));
      print(`${member.uuid}  ${member.status}`);
    });

  members
    .command('rekey')
    .description(
      'Give a member a new key, because the old one is known to others or lost. The old key stops working at once, and its streams end. Tier, expiry and status stay. Prints the new key, which the member can also fetch as before.',
    )
    .requiredOption(...uuid)
    .settings(DATA_PLACE)
    .json()
    .examples('zomma members rekey --uuid 7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90')
    .action(async (options) => {
      const uuid = await uuidOf(options.uuid);
      printKey(await (await stored()).withStore(options, 'write', (_, access) => access.rekey(uuid)), options.json);
    });

  members
    .command('link')
    .description(
      "Store a member's Telegram handle, and two on/off settings that state which signals another service may send to the handle. Zomma only stores and shows these values. Zomma sends nothing to the handle.",
    )
    .requiredOption(...uuid)
    .settings(DATA_PLACE)
    .requiredOption('--telegram <handle>', 'Telegram handle or id (required)')
    .choice(
      '--routing-1dte <state>',
      'stored value: whether another service may send signals about options that expire in one day (1DTE) to the handle',
      ON_OFF,
      'on',
    )
    .choice(
      '--routing-radar <state>',
      'stored value: whether another service may send radar signals to the handle',
      ON_OFF,
      'on',
    )
    .examples(
      'zomma members link --uuid 7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90 --telegram 5550123456 --routing-radar off',
    )
    .action(async (options) => {
      const uuid = await uuidOf(options.uuid);
      await (await stored()).withStore(options, 'write', (_, access) =>
        access.linkTelegram(uuid, {
          telegramId: options.telegram,
          routing1dte: options.routing1dte === 'on',
          routingRadar: options.routingRadar === 'on',
          lastPingAt: Date.now(),
        }),
      );
      print('linked');
    });

  addMemberTransfer(members);
}

function printKey({ member, apiKey }: Awaited<ReturnType<Access['addMember']>>, asJson: boolean | undefined): void {
  const shown = { uuid: member.uuid, api_key: apiKey, tier: member.tier, status: member.status };
  const lines = Object.entries(shown).map(([name, value]) => `${name.padEnd(8)} ${value}`);
  print(asJson ? shownJson(shown) : lines.join('\n'));
}

/** Returns the UUID of `--uuid`. If the option is `-`, reads the UUID from the first line of standard input. */
async function uuidOf(option: string): Promise<string> {
  if (option !== '-') return canonicalUuid(option);
  for await (const line of console) return canonicalUuid(line.trim());
  throw new OperatorError(
    'standard input has no UUID',
    'With --uuid -, write the UUID to standard input, in one line.',
  );
}

const ON_OFF = ['on', 'off'];

function expiry(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const expiresAtMs = Date.parse(text);
  if (!Number.isNaN(expiresAtMs)) return expiresAtMs;
  throw new OperatorError('--expires is not a date', 'Use ISO 8601, e.g. 2027-12-31T23:59:59Z.');
}

import { shownJson } from '../core/clean-text.ts';
import { EXIT_CODES } from '../core/exit-codes.ts';
import type { CheckOutcome } from '../server/check-outcome.ts';
import type { Ports } from '../server/cli-ports.ts';
import { unknownVariables } from '../settings/setting-sources.ts';
import type { CliCommand } from './cli-command.ts';
import { writeOut } from './csv/streams.ts';
import { readRawSettings, SERVER_SETTINGS } from './raw-settings.ts';

/** The exit code for each outcome. The command exits with the highest exit code among its outcomes. */
const EXIT_CODE = {
  ok: EXIT_CODES.success.code,
  warning: EXIT_CODES.failure.code,
  failure: EXIT_CODES.checkFailure.code,
} as const satisfies Record<CheckOutcome['state'], number>;
const LABEL = { ok: 'ok      ', warning: 'WARNING ', failure: 'FAILURE ' } as const;
const PROGRESS_EVERY = 1_000;

/** Adds `zomma check`, which examines an installation and reports its faults. */
export function addCheck(program: CliCommand, ports: Ports): void {
  program
    .command('check')
    .rawSettings(SERVER_SETTINGS)
    .description(
      'Check an installation: settings, data folder, database, snapshots, feeds, clock, disk, backup, certificate, port and runtime. Changes nothing. Accepts the flags of `zomma serve`. Exits with 1 after a warning, and with 2 after a failure.',
    )
    .option('--quick', 'do not read the whole database')
    .json()
    .examples('zomma check --data-dir /var/lib/zomma', 'zomma check --config /etc/zomma/zomma.toml --quick --json')
    .action(async ({ quick, json }, command: CliCommand) => {
      const { problems, given, values: settings } = await readRawSettings(command);
      const outcomes: CheckOutcome[] = [];
      const report = async (outcome: CheckOutcome) => {
        outcomes.push(outcome);
        if (!json) await writeOut(lineOf(outcome));
      };
      for (const { name, nearest } of unknownVariables(process.env)) {
        const message = `${name} is not a setting: did you mean ${nearest}?`;
        await report({ of: 'settings', state: 'warning', message });
      }
      for (const { message, hint } of problems) await report({ of: 'settings', state: 'failure', message, hint });
      if (outcomes.length === 0)
        await report({ of: 'settings', state: 'ok', message: `${given.size} are set, the others have their defaults` });
      const isTerminal = process.stderr.isTTY && !json;
      const onProgress = (read: number, of: number) => {
        if (isTerminal && read % PROGRESS_EVERY === 0) process.stderr.write(`\r\x1b[K${read} of ${of} snapshots read`);
        if (isTerminal && read === of) process.stderr.write('\r\x1b[K');
      };
      const checked = { settings, given, nowMs: Date.now(), isThorough: !quick, onProgress };
      for await (const outcome of ports.check(checked)) await report(outcome);
      const worst = Math.max(...outcomes.map(({ state }) => EXIT_CODE[state]));
      if (json) await writeOut(`${shownJson({ well: worst === 0, checks: outcomes })}\n`);
      process.exitCode = worst;
    });
}

function lineOf({ of, state, message, hint }: CheckOutcome): string {
  return `${LABEL[state]} ${of.padEnd(12)} ${message}${hint === undefined ? '' : `\n${' '.repeat(22)}${hint}`}\n`;
}

import { CommanderError } from 'commander';
import { createProgram } from './cli/program.ts';
import { cleaned } from './core/clean-text.ts';
import { ClientError, diskProblem, errorCode, OperatorError, SettingError, SettingFaults } from './core/errors.ts';
import { EXIT_CODES } from './core/exit-codes.ts';
import { PORTS } from './server/cli-ports.ts';
import { READER_COMMAND } from './settings/config.ts';

/** Runs the command in argv. For an error that the user can fix, prints two lines. For an internal error, prints its stack. */
// A reader such as `head` may close the pipe before the command ends. This is no failure.
process.stdout.on('error', (error) => errorCode(error) === 'EPIPE' || fail(error));
try {
  if (process.argv[2] === READER_COMMAND) await (await import('./feeds/reader/reader-child.ts')).runReader();
  else await (await createProgram(PORTS, process.argv[2])).parseAsync();
} catch (error) {
  // The command-line parser has already printed its own error.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : EXIT_CODES.usage.code;
  else if (errorCode(error) !== 'EPIPE') fail(error);
}

function fail(error: unknown): void {
  process.stderr.write(`${describe(error)}\n`);
  process.exitCode = (error instanceof SettingError ? EXIT_CODES.setting : EXIT_CODES.failure).code;
}

function describe(error: unknown): string {
  if (error instanceof SettingFaults) return error.faults.map(describe).join('\n');
  if (error instanceof OperatorError || error instanceof ClientError) {
    return `zomma: ${cleaned(error.message)}${error.hint ? `\n  ${cleaned(error.hint)}` : ''}`;
  }
  const problem = diskProblem(error);
  if (problem) return `zomma: ${problem.reason}: ${cleaned((error as Error).message)}\n  ${problem.hint}`;
  // A system call has failed, usually for a path. The error message of the operating system names the path.
  if (error instanceof Error && 'syscall' in error) return `zomma: ${cleaned(error.message)}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

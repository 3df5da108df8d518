import { CommanderError } from 'commander';
import { textOfError } from './cli/error-text.ts';
import { createProgram } from './cli/program.ts';
import { errorCode, SettingError } from './core/errors.ts';
import { EXIT_CODES } from './core/exit-codes.ts';
import { PORTS } from './server/cli-ports.ts';
import { COPIER_COMMAND, READER_COMMAND } from './settings/config.ts';

/** Runs the command in argv. For an error that the user can fix, prints two lines. For an internal error, prints its stack. */
// A reader such as `head` may close the pipe before the command ends. This is no failure.
process.stdout.on('error', (error) => errorCode(error) === 'EPIPE' || fail(error));
try {
  if (process.argv[2] === READER_COMMAND) await (await import('./feeds/reader/reader-child.ts')).runReader();
  else if (process.argv[2] === COPIER_COMMAND) (await import('./server/database-copier.ts')).runCopier();
  else await (await createProgram(PORTS, process.argv[2])).parseAsync();
} catch (error) {
  // The command-line parser has already printed its own error.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : EXIT_CODES.usage.code;
  else if (errorCode(error) !== 'EPIPE') fail(error);
}

function fail(error: unknown): void {
  process.stderr.write(`${textOfError(error)}\n`);
  process.exitCode = (error instanceof SettingError ? EXIT_CODES.setting : EXIT_CODES.failure).code;
}

import { cleaned } from '../core/clean-text.ts';
import { ClientError, diskProblem, OperatorError, SettingFaults } from '../core/errors.ts';

/** Returns what the command line prints for an error: two lines if the user can fix it, and the stack of an internal error. */
export function textOfError(error: unknown): string {
  if (error instanceof SettingFaults) return error.faults.map(textOfError).join('\n');
  if (error instanceof OperatorError || error instanceof ClientError) {
    return `zomma: ${cleaned(error.message)}${error.hint ? `\n  ${cleaned(error.hint)}` : ''}`;
  }
  const problem = diskProblem(error);
  if (problem) return `zomma: ${problem.reason}: ${cleaned((error as Error).message)}\n  ${problem.hint}`;
  // A system call has failed, usually for a path. The error message of the operating system names the path.
  if (error instanceof Error && 'syscall' in error) return `zomma: ${cleaned(error.message)}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

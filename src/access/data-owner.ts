import { readFileSync, statSync } from 'node:fs';
import { OperatorError } from '../core/errors.ts';

/** Throws `OperatorError` if root would write to a path of another user, because that user's service could not open the files. */
export function refuseForeignRoot(path: string): void {
  const owner = ownerOf(path);
  if (process.geteuid?.() !== 0 || owner === undefined || owner === 0) return;
  const name = userName(owner);
  throw new OperatorError(
    `${path} belongs to ${name}, and root would write files that ${name} cannot open`,
    `Run the command as that user: sudo -u ${/^user \d+$/.test(name) ? `'#${owner}'` : name} zomma …`,
  );
}

/** Returns a text such as `it belongs to root, and this process is run by zomma`, or '' if the owner and the user are equal or unknown. */
export function ownership(path: string): string {
  const owner = ownerOf(path);
  const own = process.geteuid?.();
  return owner === undefined || own === undefined || owner === own
    ? ''
    : `it belongs to ${userName(owner)}, and this process is run by ${userName(own)}`;
}

function ownerOf(path: string): number | undefined {
  if (process.platform === 'win32') return undefined;
  try {
    return statSync(path).uid;
  } catch {
    return undefined;
  }
}

/** Returns the name of a user, or a text like `user 1000` if the system's list of users does not have the user. */
export function userName(uid: number): string {
  try {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((each) => each.split(':')[2] === String(uid));
    return line?.split(':')[0] ?? `user ${uid}`;
  } catch {
    return `user ${uid}`;
  }
}

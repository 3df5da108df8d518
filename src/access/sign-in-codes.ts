import { randomBytes } from 'node:crypto';

/** Time for which a code works, ms. A person may open the link of a trial hours after its start. */
const CODE_MS = 24 * 3_600_000;

/**
 * Codes that sign a browser in once. `zomma start` prints a link with a code instead of the key, because browsers write each address into
 * their history, and some synchronize the history with other machines. The codes are in the memory of this process only.
 */
export function createSignInCodes(elapsedMs: () => number = () => performance.now()) {
  const codes = new Map<string, { readonly uuid: string; readonly untilMs: number }>();
  return {
    /** Returns a new code for a member, 32 hex digits. */
    issue(uuid: string): string {
      const code = randomBytes(16).toString('hex');
      codes.set(code, { uuid, untilMs: elapsedMs() + CODE_MS });
      return code;
    },
    /** Returns the UUID of the member for whom the code was issued. Returns undefined if the code is unknown, was used or is too old. */
    redeem(code: string): string | undefined {
      const issued = codes.get(code);
      codes.delete(code);
      return issued && elapsedMs() < issued.untilMs ? issued.uuid : undefined;
    },
  };
}

export type SignInCodes = ReturnType<typeof createSignInCodes>;

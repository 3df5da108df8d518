/** Returns the error of this class that work throws. Throws any other error again, and throws if work succeeds. */
export function errorOf<Kind extends Error>(kind: abstract new (...args: never[]) => Kind, work: () => unknown): Kind {
  try {
    work();
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

/** Returns the error of this class with which `work` rejects. Throws any other error again, and throws if `work` succeeds. */
export async function rejectionOf<Kind extends Error>(
  kind: abstract new (...args: never[]) => Kind,
  work: Promise<unknown>,
): Promise<Kind> {
  try {
    await work;
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

import { test } from 'bun:test';

/**
 * Returns a form of `test` for tests that need something of this machine. If `isHere` is false, such a test is skipped, and its name in the
 * output says why. With `CI=true` it fails, so that nothing suggests that it ran.
 */
export function testNeeding(isHere: boolean, absence: string, form: typeof test | typeof test.concurrent = test) {
  return (name: string, body: () => void | Promise<void>, timeoutMs?: number): void => {
    if (isHere) form(name, body, timeoutMs);
    else if (process.env.CI === 'true') failsFor(name, absence);
    else test.skip(`${name} (${absence})`, () => {});
  };
}

/** Returns a form of `test` for tests that start these programs. */
export function testWithProgram(...programs: string[]) {
  const missing = programs.filter((program) => Bun.which(program) === null);
  return testNeeding(missing.length === 0, `not installed: ${missing.join(', ')}`);
}

/** A test that fails for what is missing. */
export function failsFor(name: string, absence: string): void {
  test(name, () => {
    throw new Error(absence);
  });
}

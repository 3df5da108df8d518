import { describe, test } from 'bun:test';
import { existsSync } from 'node:fs';

/**
 * Tests over real recorded chains, which the project may not contain. `ZOMMA_RECORDED_CHAINS` names the folder that has them. If it is
 * unset, the tests are skipped, with their names in the output. If it names a missing folder, or is unset under CI, they fail, so that
 * nothing suggests that they ran.
 */
export function describeRecorded(name: string, body: (dir: string) => void): void {
  const dir = process.env.ZOMMA_RECORDED_CHAINS;
  if (dir !== undefined && existsSync(dir)) describe(name, () => body(dir));
  else if (dir !== undefined) fails(name, `ZOMMA_RECORDED_CHAINS names ${dir}, which is not there`);
  else if (process.env.CI === 'true') fails(name, 'ZOMMA_RECORDED_CHAINS is unset under CI');
  else test.skip(`${name} (ZOMMA_RECORDED_CHAINS is unset)`, () => {});
}

function fails(name: string, reason: string): void {
  test(name, () => {
    throw new Error(reason);
  });
}

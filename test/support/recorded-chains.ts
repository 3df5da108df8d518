import { describe, test } from 'bun:test';
import { existsSync } from 'node:fs';

/**
 * Tests over real recorded chains, which the project may not carry: `ZOMMA_RECORDED_CHAINS` names the folder that has them. Unset,
 * the tests are skipped by name; set to a folder that is not there, or unset under CI, they fail: nobody should believe they ran.
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

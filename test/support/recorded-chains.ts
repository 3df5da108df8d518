import { describe } from 'bun:test';
import { existsSync } from 'node:fs';
import { failsFor, testNeeding } from './needs.ts';

/**
 * Tests over real recorded chains, which the project may not contain. `ZOMMA_RECORDED_CHAINS` names the folder that has them. If it is
 * unset, the tests are skipped, with their names in the output. If it names a missing folder, or is unset under CI, they fail, so that
 * nothing suggests that they ran.
 */
export function describeRecorded(name: string, body: (dir: string) => void): void {
  const dir = process.env.ZOMMA_RECORDED_CHAINS;
  if (dir === undefined) testNeeding(false, 'ZOMMA_RECORDED_CHAINS is unset')(name, () => {});
  else if (existsSync(dir)) describe(name, () => body(dir));
  else failsFor(name, `ZOMMA_RECORDED_CHAINS names ${dir}, which is not there`);
}

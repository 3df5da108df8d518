import { expect, test } from 'bun:test';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../../src/store/sqlite.ts';
import { recordedChain, recordedNames } from '../analytics/recorded.ts';
import { ROOT } from '../support/process.ts';
import { describeRecorded } from '../support/recorded-chains.ts';
import { testFolder } from '../support/test-folder.ts';

const at = testFolder();
const SNAPSHOTS = 10;

describeRecorded('the size of stored snapshots', (dir) => {
  test('is what docs/operating.md says, per contract of a stock', () => {
    const [, told] = /some (\d+) bytes per contract/.exec(readFileSync(join(ROOT, 'docs/operating.md'), 'utf8'))!;
    const sizes = recordedNames(dir)
      .filter((name) => !/^(?:SPX|RUT|NDX|SPY|QQQ|IWM)/.test(name))
      .map((name) => {
        const [chain, path] = [recordedChain(dir, name), at(`${name}.sqlite`)];
        const store = openStore(path, Date.now);
        for (let n = 0; n < SNAPSHOTS; n++) store.saveChain({ ...chain, asOf: chain.asOf - n * 60_000 });
        store.close();
        return statSync(path).size / SNAPSHOTS / chain.count;
      })
      .toSorted((a, b) => a - b);
    expect(sizes.length).toBeGreaterThan(2);
    const median = sizes[sizes.length >> 1]!;
    expect(median / Number(told)).toBeWithin(0.75, 1.25);
  });
});

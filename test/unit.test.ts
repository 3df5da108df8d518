import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testWithProgram } from './support/needs.ts';
import { ROOT, run, withFolder } from './support/process.ts';

/** The unit of docs/systemd.md, as systemd reads it. */
const ANALYZER = 'systemd-analyze';
const testWithAnalyzer = testWithProgram(ANALYZER);
const PAGE = readFileSync(join(ROOT, 'docs/systemd.md'), 'utf8');
const UNIT = /```ini\n(\[Unit\][\s\S]*?)```/.exec(PAGE)![1]!;
/** The exposure that systemd may give to the unit, from 0 to 10. */
const EXPOSURE_MAX = 1.5;

/** Runs systemd-analyze on the unit, changed by `change`. The program of the unit need not be installed. */
const analyze = (args: readonly string[], change: (unit: string) => string = (unit) => unit) =>
  withFolder((folder) => {
    const file = join(folder, 'zomma.service');
    writeFileSync(file, change(UNIT).replace('/usr/local/bin/zomma', '/bin/true'));
    return run([ANALYZER], [...args, file]);
  });

testWithAnalyzer('systemd finds no fault in the unit', async () => {
  expect(await analyze(['verify', '--man=no'])).toEqual({ code: 0, stdout: '', stderr: '' });
  const withCredential = (unit: string) => unit.replace(/^#(?=LoadCredential|Environment)/gm, '');
  expect(withCredential(UNIT)).not.toBe(UNIT);
  expect(await analyze(['verify', '--man=no'], withCredential)).toEqual({ code: 0, stdout: '', stderr: '' });
  const misspelt = await analyze(['verify', '--man=no'], (unit) => unit.replace('ProtectHome=yes', 'ProtectHom=yes'));
  expect(misspelt.stderr).toContain('ProtectHom');
});

testWithAnalyzer('the unit is hardened, and the page states how much', async () => {
  const { stdout } = await analyze(['security', '--offline=true', '--no-pager']);
  const exposure = Number(/Overall exposure level for zomma\.service: ([\d.]+)/.exec(stdout)?.[1]);
  expect(exposure).toBeLessThanOrEqual(EXPOSURE_MAX);
  expect(PAGE).toContain(`rates its exposure at ${exposure} of 10`);
});

test('the unit keeps the compiler of the runtime, and is told when the server is ready', () => {
  expect(UNIT).not.toMatch(/^MemoryDenyWriteExecute/m);
  expect(UNIT).toMatch(/^Type=notify$/m);
  expect(UNIT).toMatch(/^WatchdogSec=/m);
});

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/process.ts';
import { type Served, startServed } from '../support/service.ts';
import { folderForTests } from '../support/test-folder.ts';

/** The example of docs/typed-client.md. The type checker reads it as test/client/example.ts. */
const page = await Bun.file(join(ROOT, 'docs/typed-client.md')).text();
const [, shown = ''] = /```ts\n([\s\S]*?)```/.exec(page)!;

let served: Served;
const folder = folderForTests();
beforeAll(async () => {
  served = await startServed();
});
afterAll(() => served.close());

test('the page shows the program that the type checker reads', async () => {
  const checked = await Bun.file(join(import.meta.dir, 'example.ts')).text();
  expect(shown).toBe(checked.replace('../../src/', './zomma/src/'));
});

test('the program of the page runs from a folder beside a checkout', async () => {
  const program = join(folder, 'levels.ts');
  writeFileSync(program, shown.replace('./zomma/', `${ROOT}/`));
  const child = Bun.spawn([process.execPath, program], {
    cwd: folder,
    env: { ...process.env, ZOMMA_URL: served.url, ZOMMA_KEY: served.service.key },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect([await child.exited, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^SPY is (above|below) its flip\n[1-9]\d{2,} contracts\n400 unknown_ticker\n$/);
});

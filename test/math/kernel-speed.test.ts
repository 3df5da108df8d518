import { expect, test } from 'bun:test';
import { isWithoutCompiler } from '../../src/math/kernel-speed.ts';

const MEASURE = `import { kernelNsPerOption } from ${JSON.stringify(new URL('../../src/math/kernel-speed.ts', import.meta.url).href)}; console.log(await kernelNsPerOption())`;

async function measured(env: Readonly<Record<string, string>>): Promise<number> {
  const child = Bun.spawn([process.execPath, '-e', MEASURE], { env: { ...process.env, ...env }, stdout: 'pipe' });
  return Number(await new Response(child.stdout).text());
}

test('tells a runtime without its compiler from one with it', async () => {
  const [on, off] = [await measured({}), await measured({ BUN_JSC_useJIT: '0' })];
  expect([on > 0, isWithoutCompiler(on), isWithoutCompiler(off)]).toEqual([true, false, true]);
});

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as layouts from '../../assembly/columns.ts';
import { FUNCTIONS, loadKernels } from '../../assembly/package/kernels.js';
import { distinctOptions, jumpsFor, outOfTheMoney } from '../../src/bench/workloads.ts';
import { greeks } from '../../src/math/black-scholes.ts';
import { impliedVolatility } from '../../src/math/implied-volatility.ts';
import { merton } from '../../src/math/jump-diffusion.ts';
import { kernels } from '../../src/math/kernels.ts';
import { testWithProgram } from '../support/needs.ts';
import { IS_FULL } from '../support/size.ts';

const ROOT = join(import.meta.dir, '../..');
const PACKAGE = join(ROOT, 'build/kernels');
const PAGE = readFileSync(join(ROOT, 'docs/kernels.md'), 'utf8');
const wasm = readFileSync(join(PACKAGE, 'kernels.wasm'));

let alone: string;
beforeAll(() => {
  alone = mkdtempSync(join(tmpdir(), 'kernels-'));
});
afterAll(() => rmSync(alone, { recursive: true }));

/** Runs a program in the temporary folder, and returns what it prints as JSON. */
function answerOf(...command: string[]): Record<string, unknown> {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: alone });
  if (exitCode !== 0) throw new Error(`${command[0]} ends with ${exitCode}: ${stderr}`);
  return JSON.parse(stdout.toString());
}

describe('the loader', () => {
  test.each([1, 2, 1023, 1024, 1025, 5000])('gives the bits of the server for %d rows', async (count) => {
    const loaded = await loadKernels(wasm);
    const options = distinctOptions(count);
    const jumps = { ...options, ...jumpsFor(options) };
    const priced = { ...outOfTheMoney(options), price: greeks(outOfTheMoney(options)).price };
    expect(loaded.greeks(options)).toEqual({ ...greeks(options) });
    expect(loaded.impliedVolatility(priced).iv).toEqual(impliedVolatility(priced));
    expect(loaded.merton(jumps)).toEqual(merton(jumps));
  });

  test('takes one number for all rows, and refuses columns of other lengths and missing ones', async () => {
    const loaded = await loadKernels(wasm);
    const options = { callPut: [1, -1], spot: 100, strike: [105, 95], tte: 0, iv: 0.2, rate: 0.04, dividend: 0 };
    expect([...loaded.greeks(options).price]).toEqual([0, 0]);
    expect([...loaded.greeks({ ...options, callPut: -1, strike: 105 }).price]).toEqual([5]);
    expect(() => loaded.greeks({ ...options, spot: [1, 2, 3] })).toThrow('spot must be a number or 2 numbers');
    for (const iv of ['0.2', ['0.2', '0.3'], [0.2, null]])
      expect(() => loaded.greeks({ ...options, iv } as never)).toThrow('iv must be a number or 2 numbers');
    const { iv: _, ...without } = options;
    expect(() => loaded.greeks(without as never)).toThrow('iv is missing');
  });

  test('has the columns of the kernels, in at most 80 lines', () => {
    const places = { greeks: layouts.BlackScholesColumn, impliedVolatility: layouts.ImpliedVolatilityColumn };
    for (const [name, layout] of Object.entries({ ...places, merton: layouts.MertonColumn })) {
      const { inputs, first, outputs } = FUNCTIONS[name as keyof typeof FUNCTIONS];
      const placeOf = (column: string) => layout[column as keyof typeof layout] as unknown;
      expect(inputs.map(placeOf)).toEqual(inputs.map((_, i) => i));
      expect(outputs.map(placeOf)).toEqual(outputs.map((_, i) => first + i));
    }
    expect(readFileSync(join(PACKAGE, 'kernels.js'), 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(80);
  });
});

test('the module has the imports and the version that its page and its types name', async () => {
  const module = await WebAssembly.compile(wasm);
  const imports = WebAssembly.Module.imports(module).map(({ module: from, name }) => `${from}.${name}`);
  expect(imports.toSorted()).toEqual(['decimal-writer.writeRare', 'env.memory']);
  const { version } = await Bun.file(join(ROOT, 'package.json')).json();
  expect((await loadKernels(wasm)).version).toBe(version);
  expect((await Bun.file(join(PACKAGE, 'package.json')).json()).version).toBe(version);
  expect(kernels.blockColumns()).toBe(layouts.Block.columns);
});

test('no kernel of the page writes beyond the columns of a block', async () => {
  const { exports, memory, block } = await loadKernels(wasm);
  const bytes = new Uint8Array(memory.buffer);
  const end = block + exports.blockColumns() * exports.columnBytes();
  bytes.fill(7, end);
  for (const run of [exports.blackScholes, exports.blackScholesPair, exports.impliedVolatility, exports.merton]) {
    (run as (count: number, block: number, discounted: number) => void)(exports.blockRows(), block, 0);
  }
  expect(bytes.subarray(end).findIndex((byte) => byte !== 7)).toBe(-1);
});

test('the page places each column where the kernels have it', () => {
  const rows = [...PAGE.matchAll(/^\| `(\w+)\(count.*?` \| (.*) \|$/gm)];
  const layoutOf: Record<string, object> = {
    blackScholes: layouts.BlackScholesColumn,
    blackScholesPair: layouts.BlackScholesColumn,
    impliedVolatility: layouts.ImpliedVolatilityColumn,
    merton: layouts.MertonColumn,
  };
  expect(rows.map(([, kernel]) => kernel!)).toEqual(Object.keys(layoutOf));
  for (const [, kernel, columns] of rows) {
    for (const [, place, name] of columns!.matchAll(/(\d+) ([a-z]\w+)(?=,|$)/g)) {
      expect([kernel, name, (layoutOf[kernel!] as Record<string, unknown>)[name!]]).toEqual([
        kernel,
        name,
        Number(place),
      ]);
    }
  }
  const named = new Set([...PAGE.matchAll(/\d+ ([a-z]\w+)(?=,| \|)/g)].map(([, name]) => name));
  const all = [layouts.BlackScholesColumn, layouts.ImpliedVolatilityColumn, layouts.MertonColumn];
  expect(all.flatMap((layout) => Object.keys(layout).filter((key) => /^[a-z]/.test(key) && !named.has(key)))).toEqual(
    [],
  );
});

/** The code of the page's only block in a language. */
const codeOf = (language: string) => new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(PAGE)![1]!;

const example = { count: 2, callPut: Float64Array.of(1, -1), spot: 100, strike: Float64Array.of(105, 95), tte: 0.25 };
const expected = greeks({ ...example, iv: Float64Array.of(0.22, 0.25), rate: 0.04, dividend: 0 });

testWithProgram('node')('the snippet for JavaScript runs in Node with the package alone', async () => {
  for (const name of ['kernels.js', 'kernels.wasm', 'package.json']) cpSync(join(PACKAGE, name), join(alone, name));
  await Bun.write(join(alone, 'snippet.mjs'), codeOf('js'));
  const answer = answerOf('node', 'snippet.mjs');
  expect(answer).toEqual({ price: [...expected.price], delta: [...expected.delta], iv: answer.iv });
  expect((answer.iv as number[]).map((iv) => iv.toFixed(14))).toEqual(['0.22000000000000', '0.25000000000000']);
  // Bun runs the same text.
  expect(answerOf(process.execPath, 'snippet.mjs')).toEqual(answer);
});

const hasWasmtime = Bun.which('python3') !== null && Bun.spawnSync(['python3', '-c', 'import wasmtime']).exitCode === 0;
// Neither npm nor Debian has wasmtime for Python, so a machine without it skips this test, also with `CI=true`.
test.skipIf(!hasWasmtime)('the snippet for Python runs in wasmtime with the module alone', async () => {
  cpSync(join(PACKAGE, 'kernels.wasm'), join(alone, 'kernels.wasm'));
  await Bun.write(join(alone, 'snippet.py'), codeOf('python'));
  expect(answerOf('python3', 'snippet.py')).toEqual({ price: [...expected.price], delta: [...expected.delta] });
});

test('a browser gets the module from the address of the loader', async () => {
  const server = Bun.serve({
    port: 0,
    fetch: ({ url }) => (url.endsWith('/kernels.wasm') ? new Response(wasm) : new Response('', { status: 404 })),
  });
  const loaded = await loadKernels(new URL('kernels.wasm', server.url));
  expect(loaded.greeks({ callPut: 1, spot: 100, strike: 90, tte: 0, iv: 0, rate: 0, dividend: 0 }).price[0]).toBe(10);
  await expect(loadKernels(new URL('absent.wasm', server.url))).rejects.toThrow('absent.wasm answers 404');
  await server.stop();
});

/** The engines of the comparison: at full size Node 20 and the newest Node from npm, else the installed Node. */
const ENGINES: readonly (readonly string[])[] = IS_FULL
  ? [
      ['npx', '-y', 'node@20'],
      ['npx', '-y', 'node@latest'],
    ]
  : [['node']];
const OPTIONS = IS_FULL ? 80_000 : 4_000;

interface EngineResults {
  readonly values: number;
  readonly sha256: string;
}

/** Computes the same options in an engine, and takes no times. */
function resultsOf(engine: readonly string[]): EngineResults {
  return answerOf(
    ...engine,
    join(ROOT, 'bench/kernel-results.mjs'),
    PACKAGE,
    String(OPTIONS),
    '0',
  ) as unknown as EngineResults;
}

const engines = ENGINES.map((engine) => [engine.join(' '), engine] as const);
describe.each(engines)('%s', (_, engine) => {
  testWithProgram(engine[0]!)(
    'has the bits of Bun',
    () => {
      const { values, sha256 } = resultsOf([process.execPath]);
      expect(values).toBe(12 * OPTIONS);
      expect(resultsOf(engine)).toEqual({ values, sha256 });
    },
    300_000,
  );
});

// What makes V8 slow, as counts. Vector constants in the code cost Node half of its time, and calls of short functions, which it does not inline, four times its time.
test('the code has no vector constants, and no more calls than between whole steps', () => {
  const disassembler = join(ROOT, 'node_modules/binaryen/bin/wasm-dis');
  const { exitCode, stdout } = Bun.spawnSync([
    process.execPath,
    disassembler,
    join(PACKAGE, 'kernels.wasm'),
    '--all-features',
  ]);
  expect(exitCode).toBe(0);
  const text = stdout.toString();
  expect(text.match(/v128\.const/g)).toBeNull();
  expect(text.match(/v128\.load/g)!.length).toBeGreaterThan(500);
  expect(text.match(/\(call /g)!.length).toBeLessThanOrEqual(100);
});

/** Builds Zomma: `bun build.ts [step ...]`. Without a step, runs all steps in order. */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const ROOT = import.meta.dir;
const ASC = 'node_modules/assemblyscript/bin/asc.js';

const steps: Record<string, () => void | Promise<void>> = { kernels, binary };

const named = process.argv.slice(2);
for (const name of named.length > 0 ? named : Object.keys(steps)) {
  const step = steps[name];
  if (!step) fail(`no step "${name}"; the steps are: ${Object.keys(steps).join(', ')}`);
  await step();
}

/** Compiles assembly/ to build/kernels.wasm and its types. Does nothing if the existing files were built from the same sources. */
function kernels(): void {
  const outputs = ['kernels.d.ts', 'kernels.wasm'].map((name) => join(ROOT, 'build', name));
  const stamp = join(ROOT, 'build/kernels.stamp');
  const sources = readdirSync(join(ROOT, 'assembly')).toSorted();
  const digest = digestOf([
    'asconfig.json',
    'node_modules/assemblyscript/package.json',
    ...sources.map((name) => `assembly/${name}`),
  ]);
  if ([...outputs, stamp].every((file) => existsSync(file)) && readFileSync(stamp, 'utf8') === digest) return;

  const started = performance.now();
  // Built in a temporary folder and then renamed, so that another build or a server sees the old file or the new one, never a partial file.
  const aside = mkdtempSync(join(ROOT, 'build/kernels-'));
  try {
    const { exitCode, stderr } = Bun.spawnSync(
      [process.execPath, ASC, '--config', 'asconfig.json', '--outFile', join(aside, 'kernels.wasm')],
      { cwd: ROOT },
    );
    if (exitCode !== 0) fail(`assembly/ does not compile\n${stderr.toString()}`);
    for (const output of outputs) renameSync(join(aside, basename(output)), output);
    writeFileSync(join(aside, 'stamp'), digest);
    renameSync(join(aside, 'stamp'), stamp);
  } finally {
    rmSync(aside, { recursive: true });
  }
  report('kernels compiled', started);
}

/** Compiles the server with its kernels into one self-contained file, build/zomma. */
function binary(): void {
  const started = performance.now();
  // Without the two `no-compile-autoload` flags, the binary would read a .env or bunfig file in the folder from which it is started.
  // Names are not minified, because Elysia reads the source text of handlers to find which parts of a request they use. With one-letter
  // names it would find every part.
  const flags = [
    '--minify-whitespace',
    '--minify-syntax',
    '--bytecode',
    '--format=esm',
    // Each command, and MCP, is a separate chunk that is loaded when it is needed.
    '--splitting',
    '--no-compile-autoload-dotenv',
    '--no-compile-autoload-bunfig',
  ];
  const { exitCode, stderr } = Bun.spawnSync(
    [process.execPath, 'build', '--compile', ...flags, 'src/main.ts', '--outfile', join(ROOT, 'build/zomma')],
    { cwd: ROOT },
  );
  if (exitCode !== 0) fail(`src/ does not compile\n${stderr.toString()}`);
  report('build/zomma written', started);
}

/** Reports a completed step on stderr. stdout is reserved for output that programs read. */
function report(what: string, started: number): void {
  console.error(`build: ${what} in ${Math.round(performance.now() - started)} ms`);
}

function digestOf(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) {
    const content = readFileSync(join(ROOT, file));
    hash.update(`${file} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

function fail(message: string): never {
  console.error(`build: ${message}`);
  process.exit(1);
}

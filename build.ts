/** `bun build.ts [step ...]`: without a step, all of them in order. */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = import.meta.dir;
const ASC = 'node_modules/assemblyscript/bin/asc.js';

const steps: Record<string, () => void | Promise<void>> = { kernels, binary };

const asked = process.argv.slice(2);
for (const name of asked.length > 0 ? asked : Object.keys(steps)) {
  const step = steps[name];
  if (!step) fail(`no step "${name}"; there are: ${Object.keys(steps).join(', ')}`);
  await step();
}

/** Compiles assembly/ to build/kernels.wasm, unless the one there came from these very sources. */
function kernels(): void {
  const wasm = join(ROOT, 'build/kernels.wasm');
  const stamp = join(ROOT, 'build/kernels.stamp');
  const sources = readdirSync(join(ROOT, 'assembly')).toSorted();
  const digest = digestOf([
    'asconfig.json',
    'node_modules/assemblyscript/package.json',
    ...sources.map((name) => `assembly/${name}`),
  ]);
  if (existsSync(wasm) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;

  const started = performance.now();
  // Made aside and moved into place: a build or a server beside this one sees the old file or the new, never half of one.
  const aside = mkdtempSync(join(ROOT, 'build/kernels-'));
  try {
    const made = join(aside, 'kernels.wasm');
    const { exitCode, stderr } = Bun.spawnSync(
      [process.execPath, ASC, '--config', 'asconfig.json', '--outFile', made],
      { cwd: ROOT },
    );
    if (exitCode !== 0) fail(`assembly/ does not compile\n${stderr.toString()}`);
    renameSync(made, wasm);
    writeFileSync(join(aside, 'stamp'), digest);
    renameSync(join(aside, 'stamp'), stamp);
  } finally {
    rmSync(aside, { recursive: true });
  }
  told('kernels compiled', started);
}

/** Packs the server with its kernels into one file, build/zomma, which needs nothing beside it. */
function binary(): void {
  const started = performance.now();
  // Without the autoload flags a stray .env or bunfig in the folder it is started from would be taken in. Names stay: Elysia reads
  // the source text of handlers to find what they need of a request, and in names of one letter it finds everything.
  const flags = [
    '--minify-whitespace',
    '--minify-syntax',
    '--bytecode',
    '--format=esm',
    // Each command, and MCP, is a chunk of its own, which is read when it is asked for.
    '--splitting',
    '--no-compile-autoload-dotenv',
    '--no-compile-autoload-bunfig',
  ];
  const { exitCode, stderr } = Bun.spawnSync(
    [process.execPath, 'build', '--compile', ...flags, 'src/main.ts', '--outfile', join(ROOT, 'build/zomma')],
    { cwd: ROOT },
  );
  if (exitCode !== 0) fail(`src/ does not compile\n${stderr.toString()}`);
  told('build/zomma written', started);
}

/** On stderr: what a server prints on stdout is for programs. */
function told(what: string, started: number): void {
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

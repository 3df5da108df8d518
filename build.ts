/** Builds Zomma: `bun build.ts [step ...]`. Without a step, runs all steps. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { minify } from 'terser';
import { clientConfigs } from './scripts/client-configs.ts';
import { FIGURE_TEXTS } from './scripts/figure-texts.ts';
import { METHODS_FILES, methodsPage } from './scripts/methods-page.ts';
import { withConstantsInMemory } from './scripts/portable-kernels.ts';

const ROOT = import.meta.dir;
const ASC = 'node_modules/assemblyscript/bin/asc.js';
/** The assembler of the library with which the compiler of the kernels makes its code. */
const WASM_AS = 'node_modules/binaryen/bin/wasm-as';
/** The page of the documentation from which the terminal takes the configurations of clients, so that it cannot differ from it. */
const CLIENTS = 'docs/clients.md';
/** The notices of libraries whose packages have no licence file. */
const NOTICE = 'NOTICE';
/** The font of pictures. The page shows its licence too. */
const FONT = 'node_modules/@fontsource/ibm-plex-sans/';

/** The types of the module that `web` writes. */
const MANIFEST_TYPES = `/** A file of the terminal, with the paths of its plain and compressed forms. */
export interface WebFile {
  readonly name: string;
  readonly plain: string;
  readonly brotli: string;
  readonly gzip: string;
}
/** The HTML page, which names the files. */
export const page: string;
export const files: readonly WebFile[];
`;

/** The end of the types that the compiler writes. It declares a function that only other bindings have, and leaves the memory out. */
const INSTANTIATE = /\/\*\* Instantiates the compiled [\s\S]*$/;
/** The types of the module that stand in its place. */
const KERNEL_TYPES = `/** The exports of kernels.wasm. */
export type KernelExports = typeof __AdaptedExports;
/** The imports that kernels.wasm needs. */
export interface KernelImports {
  readonly env: {
    /** The memory of the caller: at least one page, and room for the columns. */
    readonly memory: WebAssembly.Memory;
  };
  readonly 'decimal-writer': {
    /** Writes the text of a number in ASCII at \`out\`, and returns the offset after it. Only writeNumbers and writeRows call it. */
    readonly writeRare: (value: number, digits: number, out: number) => number;
  };
}
`;

const steps: Record<string, () => void | Promise<void>> = { kernels, web, binary };

const named = process.argv.slice(2);
const unknown = named.find((name) => !(name in steps));
if (unknown) fail(`no step "${unknown}"; the steps are: ${Object.keys(steps).join(', ')}`);
const isWanted = (name: string) => named.length === 0 || named.includes(name);
// The compiler of the kernels is a process of its own, so it works beside the bundler.
await Promise.all(['kernels', 'web'].filter(isWanted).map((name) => steps[name]!()));
if (isWanted('binary')) await binary();

/**
 * Compiles assembly/ to build/kernels.wasm and its types, and puts the package of the kernels into build/kernels (docs/kernels.md). Does
 * nothing if the existing files were built from the same sources.
 */
async function kernels(): Promise<void> {
  const dir = join(ROOT, 'build/kernels');
  const outputs = ['kernels.d.ts', 'kernels.wasm'].map((name) => join(ROOT, 'build', name));
  const stamp = join(ROOT, 'build/kernels.stamp');
  const sources = readdirSync(join(ROOT, 'assembly'), { recursive: true, encoding: 'utf8' })
    .filter((name) => extname(name) !== '')
    .toSorted();
  const digest = digestOf([
    'asconfig.json',
    'build.ts',
    'scripts/portable-kernels.ts',
    'package.json',
    'node_modules/assemblyscript/package.json',
    'docs/kernels.md',
    'LICENSE',
    ...sources.map((name) => `assembly/${name}`),
  ]);
  if ([...outputs, dir, stamp].every((file) => existsSync(file)) && readFileSync(stamp, 'utf8') === digest) return;

  const started = performance.now();
  // Built in a temporary folder and then renamed, so that another build or a server sees the old file or the new one, never a partial file.
  const aside = mkdtempSync(join(ROOT, 'build/kernels-'));
  try {
    const textFile = join(aside, 'kernels.wat');
    await runTool([ASC, '--config', 'asconfig.json', '--outFile', join(aside, 'kernels.wasm'), '--textFile', textFile]);
    writeFileSync(textFile, withConstantsInMemory(readFileSync(textFile, 'utf8')));
    const portable = join(aside, 'portable.wasm');
    await runTool([WASM_AS, textFile, '-o', portable, '--all-features']);
    const [types, wasm] = outputs.map((output) => join(aside, basename(output)));
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const versioned = (file: string) => Buffer.concat([readFileSync(file), customSection('version', version)]);
    writeFileSync(wasm!, versioned(wasm!));
    const declared = readFileSync(types!, 'utf8');
    if (!INSTANTIATE.test(declared)) fail('the types of the kernels have another form');
    writeFileSync(
      types!,
      declared.replace(INSTANTIATE, () => KERNEL_TYPES),
    );

    mkdirSync(dir, { recursive: true });
    const own = JSON.parse(readFileSync(join(ROOT, 'assembly/package/package.json'), 'utf8'));
    const contents: Record<string, string | Buffer> = {
      'kernels.js': readFileSync(join(ROOT, 'assembly/package/kernels.js')),
      'kernels.d.ts': readFileSync(join(ROOT, 'assembly/package/kernels.d.ts')),
      'exports.d.ts': readFileSync(types!),
      'kernels.wasm': versioned(portable),
      'package.json': `${JSON.stringify({ ...own, version }, null, 2)}\n`,
      'README.md': readFileSync(join(ROOT, 'docs/kernels.md')),
      LICENSE: readFileSync(join(ROOT, 'LICENSE')),
    };
    for (const [name, content] of Object.entries(contents)) {
      writeFileSync(join(aside, 'part'), content);
      renameSync(join(aside, 'part'), join(dir, name));
    }
    for (const output of outputs) renameSync(join(aside, basename(output)), output);
    writeFileSync(join(aside, 'stamp'), digest);
    renameSync(join(aside, 'stamp'), stamp);
  } finally {
    rmSync(aside, { recursive: true });
  }
  report('kernels compiled', started);
}

/** Runs a tool of a package with Bun. Ends the build with the output of the tool if it fails. */
async function runTool(command: readonly string[]): Promise<void> {
  const tool = Bun.spawn([process.execPath, ...command], { cwd: ROOT, stderr: 'pipe' });
  if ((await tool.exited) !== 0) fail(`assembly/ does not compile\n${await tool.stderr.text()}`);
}

/**
 * Bundles the page in web to build/web: files whose names contain a hash of their content, each also as brotli and gzip, the page
 * itself, and a module that lists them. Does nothing if the existing files were built from the same sources.
 */
async function web(): Promise<void> {
  const dir = join(ROOT, 'build/web');
  const stamp = join(dir, 'stamp');
  const own = readdirSync(join(ROOT, 'web'), { recursive: true, encoding: 'utf8' })
    .filter((name) => extname(name) !== '' && !name.startsWith('node_modules'))
    .toSorted();
  const digest = digestOf([
    'build.ts',
    'bun.lock',
    'package.json',
    ...METHODS_FILES,
    'scripts/methods-page.ts',
    CLIENTS,
    NOTICE,
    ...own.map((name) => `web/${name}`),
  ]);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;

  const started = performance.now();
  // The bundler's hash is of a chunk before terser, so the name also has a hash of what decides the rest.
  const naming = `[name]-[hash]${Bun.hash(digestOf(['build.ts', 'bun.lock']))
    .toString(36)
    .slice(0, 4)}.[ext]`;
  const { outputs, logs, success, metafile } = await Bun.build({
    entrypoints: [join(ROOT, 'web/main.tsx'), join(ROOT, 'web/style.css')],
    target: 'browser',
    minify: true,
    // Each view but Ticker is a chunk, which the page loads after the first figure.
    splitting: true,
    naming: { entry: naming, chunk: naming },
    define: { 'process.env.NODE_ENV': '"production"' },
    metafile: true,
    throw: false,
  });
  if (!success) fail(`web does not compile\n${logs.join('\n')}`);
  const asFile = (name: string, kind: string, content: Buffer) => ({
    name: `${name}-${Bun.hash(content).toString(36)}.${kind}`,
    content,
  });
  const asJson = (name: string, content: unknown) => asFile(name, 'json', Buffer.from(JSON.stringify(content)));
  const asScript = async (output: Bun.BuildArtifact) => {
    // Bun's own minifier leaves 4 % more. Libraries write to the console only to debug, and the page never does.
    const { code } = await minify(await output.text(), {
      module: true,
      ecma: 2020,
      compress: { passes: 2, unsafe_arrows: true, pure_getters: true, drop_console: true },
    });
    return { name: basename(output.path), content: Buffer.from(code!) };
  };
  const scripts = outputs.filter(({ path }) => extname(path) === '.js');
  const style = outputs.find(({ path }) => extname(path) === '.css')!;
  const files = [
    // The page names the entry. Chunks name each other.
    ...(await Promise.all(
      scripts.toSorted((a, b) => Number(b.kind === 'entry-point') - Number(a.kind === 'entry-point')).map(asScript),
    )),
    asFile('style', 'css', Buffer.from(await style.text())),
    // Parsed here, so that the page needs no parsers.
    asJson('methods', methodsPage()),
    asJson('figures', {
      ...FIGURE_TEXTS,
      fields: JSON.parse(readFileSync(join(ROOT, 'web/figure-fields.json'), 'utf8')),
    }),
    asJson('clients', clientConfigs(readFileSync(join(ROOT, CLIENTS), 'utf8'))),
    asJson('licences', [
      ...licencesOf([...Object.keys(metafile!.inputs), FONT]),
      { name: '@resvg/resvg-wasm, MPL-2.0', text: readFileSync(join(ROOT, NOTICE), 'utf8').trim() },
    ]),
  ];
  // In the page, `{methods}` stands for the path of the file whose name begins with `methods-`.
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const page = readFileSync(join(ROOT, 'web/page.html'), 'utf8')
    .replace('{version}', version)
    .replace(/\{(\w+)\}/g, (_, name) => `/web/${files.find((file) => file.name.startsWith(`${name}-`))!.name}`);

  mkdirSync(dir, { recursive: true });
  // A running server may still read the files of an earlier build, so these are removed last. The stamp is written when all is in place.
  const earlier = readdirSync(dir);
  const written = new Map<string, string | Buffer>();
  for (const { name, content } of files) {
    written.set(name, content);
    written.set(`${name}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
    written.set(`${name}.gz`, gzipSync(content, { level: 9, memLevel: 9 }));
  }
  written.set(
    'manifest.js',
    manifestOf(
      page,
      files.map(({ name }) => name),
    ),
  );
  written.set('manifest.d.ts', MANIFEST_TYPES);
  written.set('stamp', digest);
  for (const [name, content] of written) {
    writeFileSync(join(dir, `${name}.new`), content);
    renameSync(join(dir, `${name}.new`), join(dir, name));
  }
  for (const name of earlier) if (!written.has(name)) rmSync(join(dir, name), { force: true });
  report('build/web written', started);
}

/** Returns the licences of the packages from which a bundle has files: name with version and licence, and the text. */
function licencesOf(inputs: readonly string[]): { name: string; text: string }[] {
  const names = inputs.map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  return [...new Set(names)]
    .filter((name) => name !== undefined)
    .toSorted()
    .map((name) => {
      const folder = join(ROOT, 'node_modules', name);
      const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
      if (!file) fail(`${name} has no licence file`);
      return { name: `${name} ${version}, ${license}`, text: readFileSync(join(folder, file), 'utf8').trim() };
    });
}

/** Returns the commit of the source folder, or `unknown` if git or its folder is missing. */
function commit(): string {
  if (!Bun.which('git')) return 'unknown';
  const { exitCode, stdout } = Bun.spawnSync(['git', 'rev-parse', '--short=12', 'HEAD'], {
    cwd: ROOT,
    stderr: 'ignore',
  });
  return exitCode === 0 ? stdout.toString().trim() : 'unknown';
}

/** Returns the text of a module that has the page and imports the files of the terminal, so that `bun build --compile` embeds them. */
function manifestOf(page: string, names: readonly string[]): string {
  const imports = names.flatMap((name, i) =>
    ['', '.br', '.gz'].map((coding, j) => `import file${i}_${j} from './${name}${coding}' with { type: 'file' };`),
  );
  const rows = names.map(
    (name, i) => `  { name: '${name}', plain: file${i}_0, brotli: file${i}_1, gzip: file${i}_2 },`,
  );
  return `${imports.join('\n')}
export const page = ${JSON.stringify(page)};
export const files = [
${rows.join('\n')}
];
`;
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
    `--define=process.env.ZOMMA_BUILD_COMMIT="${commit()}"`,
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

/** Returns a custom section of a WebAssembly module: its number 0, its length, the length of its name, its name and its text. */
function customSection(name: string, text: string): Buffer {
  const content = Buffer.from(`${String.fromCharCode(name.length)}${name}${text}`, 'latin1');
  // A longer section would have its length in several bytes.
  if (content.length > 127) fail(`the section ${name} is longer than 127 bytes`);
  return Buffer.from([0, content.length, ...content]);
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

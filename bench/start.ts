import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform } from 'node:os';
import { join } from 'node:path';
import { quantile } from '../src/bench/race.ts';
import { writeChain } from '../test/support/chain-file.ts';
import { BINARY, ROOT, run, withFolder } from '../test/support/process.ts';
import { keepSection, sectionUnder } from './page.ts';

const HEADING = '## Start and memory';
/** From the start of the process to the first answer of /health, and resident memory at rest. */
const TARGETS = { files: { ms: 100, mib: 64 }, simulated: { ms: 250, mib: 80 } } as const;
/** Time to read them. */
const LOADED_MS = 2_000;
/** Files of the folder: so many tickers, known from an earlier start. */
const FILES = 59;
const BARE = `const server = Bun.serve({ port: 0, fetch: () => new Response('online') });
console.log(\`listening on \${server.url.origin}\`);
`;
const FULL: StartOptions = { starts: 9, restMs: 30_000 };

export interface StartOptions {
  /** Of each kind, of which the median time is reported. */
  readonly starts: number;
  /** From the ready line of one more until its memory is looked at. */
  readonly restMs: number;
}

export interface Started {
  readonly what: string;
  /** From the start of the process, ms. */
  readonly firstHealth: number;
  /** MiB, resident: in all, and of it what no file stands for. */
  readonly resident: number;
  readonly anonymous: number;
  /** MiB, the most that was resident. */
  readonly peak: number;
}

/** `bun bench/start.ts [--write]`: a minute; `--write` puts the section into the page, where the other benches leave it. */
if (import.meta.main) {
  const { code, stderr } = await run([process.execPath], [join(ROOT, 'build.ts')]);
  if (code !== 0) throw new Error(stderr);
  const section = sectionOf(await measureStarts([BINARY[0]!], FULL), FULL);
  console.log(section);
  if (process.argv.includes('--write')) await keepSection(HEADING, section);
  process.exit(0);
}

/** The section as it stands on a page, to its end; empty where there is none. */
export function startSection(page: string): string {
  return sectionUnder(HEADING, page);
}

/** Starts a service again and again, beside the bare runtime compiled in the same way. */
export function measureStarts(command: readonly string[], { starts, restMs }: StartOptions): Promise<Started[]> {
  return withFolder(async (folder) => {
    const drop = join(folder, 'drop');
    mkdirSync(drop);
    for (let each = 0; each < FILES; each++) writeChain(join(drop, `${each}.csv`), `T${each}`);
    const bare = join(folder, 'bare');
    writeFileSync(`${bare}.ts`, BARE);
    const flags = ['--compile', '--minify', '--bytecode', '--format=esm', `${bare}.ts`, '--outfile', bare];
    const built = await run([process.execPath], ['build', ...flags]);
    if (built.code !== 0) throw new Error(built.stderr);

    const known = join(folder, 'known');
    const serve = (dataDir: string, ...more: string[]) => [
      ...[...command, 'serve', '--port', '0', '--data-dir', dataDir, '--log-level', 'info', ...more],
    ];
    const files = serve(known, '--feed', `files:${drop}`);
    // The first start reads the files; it is not measured.
    await startOnce(files, LOADED_MS);
    const kinds: [string, (at: number) => string[]][] = [
      ['the bare runtime, compiled: `Bun.serve` with one answer', () => [bare]],
      ['`serve --feed files:…`, all files already read', () => files],
      ['`start`, simulated', (at) => serve(join(folder, `simulated-${at}`))],
    ];
    const times = new Map<string, number>();
    for (const [what, of] of kinds) {
      const runs: number[] = [];
      for (let i = 0; i < starts; i++) runs.push((await startOnce(of(i), 0)).firstHealth);
      times.set(
        what,
        quantile(
          runs.toSorted((a, b) => a - b),
          0.5,
        ),
      );
    }
    // Resting takes longest, and one does not disturb another in it.
    return Promise.all(
      kinds.map(async ([what, of]) => ({
        what,
        ...(await startOnce(of(starts), restMs)),
        firstHealth: times.get(what)!,
      })),
    );
  });
}

async function startOnce(command: readonly string[], restMs: number): Promise<Omit<Started, 'what'>> {
  const startedAt = performance.now();
  const child = Bun.spawn([...command], { stdout: 'pipe', stderr: 'ignore' });
  try {
    let said = '';
    for await (const piece of child.stdout) {
      said += new TextDecoder().decode(piece);
      if (/listening on .*\n/.test(said)) break;
    }
    await (await fetch(`${/listening on (\S+)\n/.exec(said)![1]}/health`)).text();
    const firstHealth = performance.now() - startedAt;
    await Bun.sleep(restMs);
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    const mib = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)![1]) / 1024;
    return { firstHealth, resident: mib('VmRSS'), anonymous: mib('RssAnon'), peak: mib('VmHWM') };
  } finally {
    child.kill();
    await child.exited;
  }
}

export function sectionOf(measured: readonly Started[], { starts, restMs }: StartOptions): string {
  const line = ({ what, firstHealth, resident, anonymous, peak }: Started) =>
    `| ${what} | ${firstHealth.toFixed(0)} | ${resident.toFixed(0)} | ${anonymous.toFixed(0)} | ${(resident - anonymous).toFixed(0)} | ${peak.toFixed(0)} |\n`;
  const [, files, simulated] = measured;
  const target = (name: string, { firstHealth, resident }: Started, { ms, mib }: { ms: number; mib: number }) =>
    `- ${name}: first \`/health\` within ${ms} ms: ${reached(firstHealth <= ms)}; at rest within ${mib} MiB: ${reached(resident <= mib)}\n`;
  const reached = (holds: boolean) => (holds ? 'reached' : 'missed');
  return `${HEADING}

Generated by \`bun bench/start.ts --write\` on ${cpus()[0]?.model ?? 'an unknown processor'}, ${platform()} ${arch()}, Bun ${Bun.version}.

These figures are of the compiled binary. The time runs from the start of the process to the first answer of \`/health\`. It is the median of
${starts} starts. Memory is measured in one more start, ${restMs / 1000} s after the ready line. File pages are pages of the executable, which all its
processes share: the code of Bun that was used, and the chunks of the program that were loaded. The folder has ${FILES} files.

| | first \`/health\`, ms | resident, MiB | anonymous, MiB | file pages, MiB | peak resident, MiB |
|---|---|---|---|---|---|
${measured.map(line).join('')}
${target('folder', files!, TARGETS.files)}${target('simulated', simulated!, TARGETS.simulated)}`;
}

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { quantile } from '../src/bench/race.ts';
import { writeChain } from '../test/support/chain-file.ts';
import { BINARY, run, withFolder } from '../test/support/process.ts';
import { generatedBy, runSection } from './turns.ts';

const HEADING = '## Start and memory';
/** Targets: the time from the start of the process to the first answer of /health, ms, and the resident memory at rest, MiB. */
const TARGETS = { files: { ms: 100, mib: 64 }, simulated: { ms: 250, mib: 80 } } as const;
/** Time that is enough for the service to read all files of the drop folder, ms. */
const LOADED_MS = 2_000;
/** Number of files of the drop folder. Each file has a ticker of its own. */
const FILES = 59;
/** Source of a program that measures the bare runtime. */
const BARE = `const server = Bun.serve({ port: 0, fetch: () => new Response('online') });
console.log(\`listening on \${server.url.origin}\`);
`;
const FULL: StartOptions = { starts: 9, restMs: 30_000 };

export interface StartOptions {
  /** Number of measured starts of each program. The median of their times is reported. */
  readonly starts: number;
  /** Time from the first answer of one more start until its memory is measured, ms. */
  readonly restMs: number;
}

export interface Started {
  /** The program, as the table names it. */
  readonly what: string;
  /** Time from the start of the process to the first answer of /health, ms. */
  readonly firstHealth: number;
  /** Resident memory, MiB. */
  readonly resident: number;
  /** Resident memory that is not pages of a file, MiB. */
  readonly anonymous: number;
  /** Peak of the resident memory, MiB. */
  readonly peak: number;
}

/**
 * Measures starts and memory of the service, which `command` starts, with a drop folder and with the simulated market. Also measures the
 * bare runtime, compiled with the same flags.
 */
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
    // The first start reads the files. It is not measured.
    await startOnce(files, LOADED_MS);
    const kinds: [string, (i: number) => string[]][] = [
      ['the bare runtime, compiled: `Bun.serve` with one answer', () => [bare]],
      ['`serve --feed files:…`, all files already read', () => files],
      ['`start`, simulated', (i) => serve(join(folder, `simulated-${i}`))],
    ];
    const times = new Map<string, number>();
    for (const [what, commandOf] of kinds) {
      const runs: number[] = [];
      for (let i = 0; i < starts; i++) runs.push((await startOnce(commandOf(i), 0)).firstHealth);
      times.set(
        what,
        quantile(
          runs.toSorted((a, b) => a - b),
          0.5,
        ),
      );
    }
    // Most of this time is waiting. The processes wait at the same time, because they do not disturb each other while they do nothing.
    return Promise.all(
      kinds.map(async ([what, commandOf]) => ({
        what,
        ...(await startOnce(commandOf(starts), restMs)),
        firstHealth: times.get(what)!,
      })),
    );
  });
}

/** Starts a program, waits for its first answer of /health and then for `restMs`, and measures its memory. */
async function startOnce(command: readonly string[], restMs: number): Promise<Omit<Started, 'what'>> {
  const startedAt = performance.now();
  const child = Bun.spawn([...command], { stdout: 'pipe', stderr: 'ignore' });
  try {
    let output = '';
    for await (const piece of child.stdout) {
      output += new TextDecoder().decode(piece);
      if (/listening on .*\n/.test(output)) break;
    }
    await (await fetch(`${/listening on (\S+)\n/.exec(output)![1]}/health`)).text();
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

/** Returns the section of docs/benchmarks.md with these figures. */
export function sectionOf(measured: readonly Started[], { starts, restMs }: StartOptions): string {
  const line = ({ what, firstHealth, resident, anonymous, peak }: Started) =>
    `| ${what} | ${firstHealth.toFixed(0)} | ${resident.toFixed(0)} | ${anonymous.toFixed(0)} | ${(resident - anonymous).toFixed(0)} | ${peak.toFixed(0)} |\n`;
  const [, files, simulated] = measured;
  const target = (name: string, { firstHealth, resident }: Started, { ms, mib }: { ms: number; mib: number }) =>
    `- ${name}: first \`/health\` within ${ms} ms: ${reached(firstHealth <= ms)}; at rest within ${mib} MiB: ${reached(resident <= mib)}\n`;
  const reached = (holds: boolean) => (holds ? 'reached' : 'missed');
  return `${HEADING}

${generatedBy('bun bench/start.ts')}

These figures are of the compiled binary. The time is from the start of the process to the first answer of \`/health\`, the median of ${starts}
starts. Memory is measured in one more start, ${restMs / 1000} s after the \`listening\` line. File pages are pages of the executable, which all processes
of this executable share: the code of Bun that was used, and the parts of the program that were loaded. The drop folder has ${FILES} files.

| | first \`/health\`, ms | resident, MiB | anonymous, MiB | file pages, MiB | peak resident, MiB |
|---|---|---|---|---|---|
${measured.map(line).join('')}
${target('folder', files!, TARGETS.files)}${target('simulated', simulated!, TARGETS.simulated)}`;
}

/** `bun bench/start.ts [--write]` takes a minute. */
if (import.meta.main) await runSection(HEADING, async () => sectionOf(await measureStarts([BINARY[0]!], FULL), FULL));

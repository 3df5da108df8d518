import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveFixtures } from './fixture-server.ts';
import { dependencies } from './package.json';

/** A protocol revision as tested by one of the suites. */
export interface Suite {
  readonly package: keyof typeof dependencies;
  readonly revision: string;
}

export const SUITES: readonly Suite[] = [
  { package: 'conformance-0.2', revision: '2025-06-18' },
  { package: 'conformance-0.1', revision: '2025-11-25' },
  { package: 'conformance-0.2', revision: '2025-11-25' },
  { package: 'conformance-0.2', revision: '2026-07-28' },
];

export interface Outcome {
  readonly suite: Suite;
  /** The suite's own verdict: every failure is expected, and every expected failure occurs. */
  readonly isAsExpected: boolean;
  /** The suite's description of unexpected results. */
  readonly verdict: string;
  /** The suite's checks by scenario. */
  readonly scenarios: ReadonlyMap<string, readonly Check[]>;
}

export interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

export const EXPECTED_FAILURES = join(import.meta.dir, 'expected-failures.yaml');

/** A run takes seconds. A run that hangs is killed after this time. */
const SUITE_MAX_MS = 60_000;

export const areInstalled = SUITES.every((suite) => existsSync(entryOf(suite)));

/** Runs the suites in turn, each against its own server with the fixtures. Needs no network. */
export async function runSuites(): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const suite of SUITES) outcomes.push(await runSuite(suite));
  return outcomes;
}

export function versionOf(suite: Suite): string {
  return dependencies[suite.package].split('@').at(-1)!;
}

async function runSuite(suite: Suite): Promise<Outcome> {
  const server = await serveFixtures(suite.revision);
  const folder = mkdtempSync(join(tmpdir(), 'zomma-conformance-'));
  try {
    const run = Bun.spawn(
      [
        ...[process.execPath, '--bun', entryOf(suite), 'server', '--url', server.url, '--output-dir', folder],
        ...['--suite', 'all', '--spec-version', suite.revision, '--expected-failures', EXPECTED_FAILURES],
      ],
      { stdout: 'pipe', stderr: 'inherit', timeout: SUITE_MAX_MS },
    );
    const [printed, code] = await Promise.all([run.stdout.text(), run.exited]);
    const words = Bun.stripANSI(printed);
    // If the run was killed, the scenario during which it was killed.
    const from = Math.max(words.search(/^(?:Stale|Unexpected)/m), words.lastIndexOf('\n=== '));
    const verdict = words.slice(from).trim();
    return { suite, isAsExpected: code === 0, verdict, scenarios: readResults(folder) };
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Each scenario has a folder, `server-{name}-{time}`, with its checks. */
function readResults(folder: string): Map<string, Check[]> {
  const results = readdirSync(folder)
    .sort()
    .map((name): [string, Check[]] => [
      name.replace(/^server-(.+)-\d{4}-\d\d-\d\dT.*$/, '$1'),
      JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')),
    ]);
  return new Map(results);
}

function entryOf(suite: Suite): string {
  return join(import.meta.dir, 'node_modules', suite.package, 'dist/index.js');
}

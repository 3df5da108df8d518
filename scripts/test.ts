/**
 * Runs the tests: `bun run test [arguments of bun test]`. First it runs most files in parallel, then those that measure time, one by one. The
 * last lines name each skipped test and count the tests, from the reports of all runs. ZOMMA_TESTS_SIZE chooses the size of the slowest
 * tests (test/support/size.ts).
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '..');

/**
 * Three processes on two cores, because tests often wait for a browser or for another program. Each process keeps its modules from file to
 * file, because loading them again for each file takes a tenth of the processor time.
 */
const PARALLEL = ['--parallel=3', '--no-isolate'];

/** The files that measure time, or memory that depends on it, so no other test takes the processor from them. */
const TIMED = [
  'test/bench/service.test.ts',
  'test/cluster/faults.test.ts',
  'test/faults/hostile-members.test.ts',
  'test/faults/large-bodies.test.ts',
  'test/faults/stopping.test.ts',
  'test/math/kernel-speed.test.ts',
  'test/server/fill-past.test.ts',
  'test/terminal/speed.test.ts',
];

/**
 * The files that have a process of their own, beside the parallel ones. This one requests so many garbage collections that the large heap of a
 * process of many files makes it forty times as slow.
 */
const APART = ['test/faults/hostile-files.test.ts'];

/** The durations of the files, so that the slowest ones start first: `bun run test --update-timings` writes them. */
const TIMINGS = 'test/timings.json';

/** The counts of one run, and the names of its failed and its skipped tests. */
interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly string[];
  readonly skipped: readonly string[];
}

const args = process.argv.slice(2);
const hasPattern = (arg: string | undefined) => arg === '-t' || arg === '--test-name-pattern';
/** The parts of paths that choose files. Of the options, only the pattern of names has its value in an argument of its own. */
const paths = args.filter((arg, i) => !arg.startsWith('-') && !hasPattern(args[i - 1]));
const options = args.filter((arg) => !paths.includes(arg));
const isChosen = (file: string) => paths.length === 0 || paths.some((path) => file.includes(path.replace(/^\.\//, '')));

const built = Bun.spawnSync([process.execPath, 'build.ts'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
if (built.exitCode !== 0) process.exit(built.exitCode);

const reports = mkdtempSync(join(tmpdir(), 'zomma-tests-'));
const [timed, apart] = [TIMED.filter(isChosen), APART.filter(isChosen)];
const parallel = [...PARALLEL, ...[...TIMED, ...APART].map((file) => `--path-ignore-patterns=${file}`), ...paths];
const beside = [runTests('parallel', parallel), ...(apart.length === 0 ? [] : [runTests('apart', apart)])];
const outcomes = [...(await Promise.all(beside)), ...(timed.length === 0 ? [] : [await runTests('timed', timed)])];
rmSync(reports, { recursive: true, force: true });

const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + of(outcome), 0);
const [passed, failed, skipped] = [
  sum((each) => each.passed),
  sum((each) => each.failed),
  outcomes.flatMap((each) => each.skipped),
];
// The failed tests stand again at the end, because a log of many thousand lines is often kept only by its end.
for (const name of outcomes.flatMap((each) => each.failures)) console.log(`failed: ${name}`);
// Tests that the pattern leaves out are among the skipped ones in the reports.
if (options.some(hasPattern)) console.log(`\n${passed} passed, ${failed} failed`);
else {
  for (const name of skipped) console.log(`skipped: ${name}`);
  console.log(`\n${passed} passed, ${failed} failed, ${skipped.length} skipped`);
}
if (passed + failed + skipped.length === 0) console.error(`No test file has ${paths.join(' or ')} in its path.`);
process.exit(failed === 0 && passed + skipped.length > 0 ? 0 : 1);

async function runTests(name: string, chosen: readonly string[]): Promise<Outcome> {
  const report = join(reports, `${name}.xml`);
  const exitCode = await Bun.spawn(
    [
      ...[process.execPath, 'test', '--timeout=60000', '--pass-with-no-tests', ...options, ...chosen],
      ...['--reporter=junit', `--reporter-outfile=${report}`, `--timings=${TIMINGS}`],
    ],
    {
      cwd: ROOT,
      stdio: ['inherit', 'inherit', 'inherit'],
      env: { ...process.env, ZOMMA_TESTS_BUILT: 'true' },
    },
  ).exited;
  const text = existsSync(report) ? readFileSync(report, 'utf8') : '';
  const count = (what: string) => Number(new RegExp(`<testsuites[^>]* ${what}="(\\d+)"`).exec(text)?.[1] ?? 0);
  const named = (result: string) =>
    [...text.matchAll(new RegExp(`<testcase name="([^"]*)"[^>]* file="([^"]*)"[^>]*>\\s*<${result}`, 'g'))].map(
      ([, name, file]) => `${file}: ${textOf(name!)}`,
    );
  const skipped = named('skipped');
  const [all, failed] = [count('tests'), count('failures')];
  return {
    passed: all - failed - skipped.length,
    // The report leaves out a file that throws while it is loaded. Only the exit code shows such an error.
    failed: exitCode !== 0 && failed === 0 ? 1 : failed,
    failures: named('failure'),
    skipped,
  };
}

/** Returns the text of an attribute of XML. */
function textOf(attribute: string): string {
  const texts: Record<string, string> = { '&quot;': '"', '&lt;': '<', '&gt;': '>', '&apos;': "'", '&amp;': '&' };
  return attribute.replace(/&\w+;/g, (entity) => texts[entity] ?? entity);
}

import { join } from 'node:path';
import { faultsOf, parseExpected, resultsTable, summaryTable } from './report.ts';
import { EXPECTED_FAILURES, runSuites } from './suites.ts';

/** `bun test/conformance/run.ts [--write]` runs all suites and prints the result of each scenario. `--write` writes their numbers to the page. */
const RESULTS = '\n## Results\n';
const page = Bun.file(join(import.meta.dir, '../../docs/conformance.md'));

const expected = parseExpected(await Bun.file(EXPECTED_FAILURES).text());
const outcomes = await runSuites();
const results = resultsTable(outcomes, expected);
const faults = faultsOf(outcomes, expected);
console.log(results);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
if (process.argv.includes('--write')) {
  const [words] = (await page.text()).split(RESULTS);
  await Bun.write(page, `${words}${RESULTS}\n${summaryTable(outcomes, expected)}\n`);
}

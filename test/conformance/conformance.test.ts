import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testNeeding } from '../support/needs.ts';
import { faultsOf, parseExpected, resultsTable, summaryTable } from './report.ts';
import { areInstalled, type Check, EXPECTED_FAILURES, type Outcome, runSuites } from './suites.ts';

// The suites are a separate package, which `bun run test:conformance` installs.
testNeeding(areInstalled, 'not installed: test/conformance')(
  'the official suites fail only for features that are not offered',
  async () => {
    const expected = parseExpected(readFileSync(EXPECTED_FAILURES, 'utf8'));
    const outcomes = await runSuites();
    expect(faultsOf(outcomes, expected)).toEqual([]);
    const page = readFileSync(join(import.meta.dir, '../../docs/conformance.md'), 'utf8');
    expect(page).toEndWith(`\n${summaryTable(outcomes, expected)}\n`);
  },
  120_000,
);

const SUITE = '2025-11-25 (0.1.16)';

describe('the report', () => {
  const expected = parseExpected('server:\n  - prompts # no prompts\n  - caching:hints # no hints\n');
  const idle = (...names: string[]) => names.map((name) => `${name}: expected to fail, never does`);

  test.each<[Check['status'][], string, string, string[]]>([
    [['SUCCESS'], 'ping', 'passed', idle('prompts', 'caching:hints')],
    [['SUCCESS', 'WARNING'], 'ping', '**failed**', [`${SUITE} ping:hints: why`, ...idle('prompts', 'caching:hints')]],
    [['SKIPPED'], 'ping', 'skipped', idle('prompts', 'caching:hints')],
    [['FAILURE'], 'prompts', 'not offered | no prompts', idle('caching:hints')],
    [['SUCCESS', 'FAILURE'], 'caching', 'passed but for 1 of 2 | no hints', idle('prompts')],
    [['FAILURE', 'FAILURE'], 'caching', '**failed** | no hints', [`${SUITE} caching:check-0: why`, ...idle('prompts')]],
  ])('for %j in %s prints %s', (statuses, scenario, cells, faults) => {
    const outcome = outcomeOf(scenario, statuses);
    expect(resultsTable([outcome], expected)).toEndWith(`\n| \`${scenario}\` | ${cells} |`);
    expect(faultsOf([outcome], expected)).toEqual(faults);
    const numbers = ['passed', 'passed but for', 'not offered', 'skipped', '**failed**'].map((kind) =>
      Number(cells.startsWith(kind) && (kind !== 'passed' || !cells.startsWith('passed but'))),
    );
    expect(summaryTable([outcome], expected)).toEndWith(`\n| ${[SUITE, ...numbers].join(' | ')} |`);
  });

  test('reports a suite with unexpected results, and a suite that ran nothing', () => {
    const outcome = { ...outcomeOf('ping', []), isAsExpected: false, verdict: 'ping failed', scenarios: new Map() };
    expect(faultsOf([outcome], new Map())).toEqual([`${SUITE}: ping failed`, `${SUITE}: ran nothing`]);
  });

  test('rejects an expected failure without a reason', () => {
    expect(() => parseExpected('server:\n  - prompts\n')).toThrow('without its reason:   - prompts');
  });
});

/** A suite's outcome with one scenario, whose last check is called `hints`. */
function outcomeOf(scenario: string, statuses: readonly Check['status'][]): Outcome {
  const last = statuses.length - 1;
  const checks = statuses.map((status, i) => ({
    id: i === last ? 'hints' : `check-${i}`,
    status,
    errorMessage: 'why',
  }));
  return {
    suite: { package: 'conformance-0.1', revision: '2025-11-25' },
    isAsExpected: true,
    verdict: '',
    scenarios: new Map([[scenario, checks]]),
  };
}

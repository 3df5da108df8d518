import { table } from '../../scripts/reference-tables.ts';
import { type Check, type Outcome, versionOf } from './suites.ts';

/** The reasons by expected failure: a scenario, or a single check as `scenario:check`. */
export type Expected = ReadonlyMap<string, string>;

/** Reads the suites' own file, with the reasons in its comments. Throws if a reason is missing. */
export function parseExpected(yaml: string): Expected {
  const entries = yaml.split('\n').filter((line) => line.trimStart().startsWith('- '));
  return new Map(
    entries.map((line) => {
      const [, name, reason] = /^ {2}- (\S+) # (\S.*)$/.exec(line) ?? [];
      if (name && reason) return [name, reason];
      throw new Error(`An expected failure without its reason: ${line}`);
    }),
  );
}

/** All unexpected results. Empty if every result is as expected. */
export function faultsOf(outcomes: readonly Outcome[], expected: Expected): string[] {
  const failures = outcomes.flatMap(({ suite, scenarios }) =>
    [...scenarios].flatMap(([scenario, checks]) =>
      checks
        .filter(isFailure)
        .map(({ id, errorMessage }) => ({ suite, scenario, check: `${scenario}:${id}`, errorMessage })),
    ),
  );
  const failed = new Set(failures.flatMap(({ scenario, check }) => [scenario, check]));
  return [
    ...outcomes.filter(({ isAsExpected }) => !isAsExpected).map(({ suite, verdict }) => `${title(suite)}: ${verdict}`),
    ...outcomes.filter(({ scenarios }) => scenarios.size === 0).map(({ suite }) => `${title(suite)}: ran nothing`),
    ...failures
      .filter(({ scenario, check }) => !expected.has(scenario) && !expected.has(check))
      .map(({ suite, check, errorMessage }) => `${title(suite)} ${check}: ${errorMessage}`),
    ...[...expected.keys()].filter((name) => !failed.has(name)).map((name) => `${name}: expected to fail, never does`),
  ];
}

/** A table of every scenario with its result in each suite that has it, and the reasons of those not offered. */
export function resultsTable(outcomes: readonly Outcome[], expected: Expected): string {
  const names = [...new Set(outcomes.flatMap(({ scenarios }) => [...scenarios.keys()]))].sort();
  const rows = names.map((name) => {
    const ends = outcomes.map(({ scenarios }) => endOf(name, scenarios.get(name), expected));
    const reasons = [...expected].filter(([entry]) => entry.split(':')[0] === name).map(([, reason]) => reason);
    return [`\`${name}\``, ...ends, [...new Set(reasons)].join('; ')];
  });
  return table(['scenario', ...outcomes.map(({ suite }) => title(suite)), 'why not'], rows);
}

/** A table of the suites, with the number of scenarios by result. */
export function summaryTable(outcomes: readonly Outcome[], expected: Expected): string {
  const kinds = ['passed', 'passed but for', 'not offered', 'skipped', '**failed**'];
  const rows = outcomes.map(({ suite, scenarios }) => {
    const ends = [...scenarios].map(([name, checks]) => endOf(name, checks, expected).replace(/ \d+ of \d+$/, ''));
    return [title(suite), ...kinds.map((kind) => String(ends.filter((end) => end === kind).length))];
  });
  return table(['revision (suite)', 'passed', 'passed in part', 'not offered', 'skipped', 'failed'], rows);
}

function endOf(name: string, checks: readonly Check[] | undefined, expected: Expected): string {
  if (!checks) return '';
  const failures = idsOf(checks.filter(isFailure));
  if (failures.length > 0 && expected.has(name)) return 'not offered';
  if (!failures.every((id) => expected.has(`${name}:${id}`))) return '**failed**';
  const made = idsOf(checks.filter(({ status }) => status !== 'SKIPPED' && status !== 'INFO'));
  if (made.length === 0) return 'skipped';
  return failures.length > 0 ? `passed but for ${failures.length} of ${made.length}` : 'passed';
}

/** Warnings count as failures, as in the suites' verdicts. */
function isFailure({ status }: Check): boolean {
  return status === 'FAILURE' || status === 'WARNING';
}

/** The distinct ids, because a check may be made several times. */
function idsOf(checks: readonly Check[]): string[] {
  return [...new Set(checks.map(({ id }) => id))];
}

function title(suite: Outcome['suite']): string {
  return `${suite.revision} (${versionOf(suite)})`;
}

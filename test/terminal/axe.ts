import axe from 'axe-core';
import type { Page } from 'playwright-core';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/**
 * Returns where a page violates WCAG 2.2 A or AA. `except` are parts that are not looked at, because they were before. The policy of the
 * page forbids script elements, so the source of axe is evaluated.
 */
export async function violationsOf(page: Page, ...except: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    ([tags, exclude]) =>
      (globalThis as unknown as { axe: typeof axe }).axe.run(
        { exclude: exclude.map((each) => [each]) },
        // What is passed is not listed: a grid has two thousand cells.
        { runOnly: { type: 'tag', values: tags }, resultTypes: ['violations'] },
      ),
    [TAGS, except] as [string[], string[]],
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')}: ${failureSummary}`),
  );
}

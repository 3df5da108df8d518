import type axe from 'axe-core';
import type { Page } from 'playwright-core';
import { IS_FULL } from '../support/size.ts';

/** The minified source, which takes the browser half the time. */
const SOURCE = await Bun.file(Bun.resolveSync('axe-core/axe.min.js', import.meta.dir)).text();
/** The rows of a grid are alike, so in the everyday run the first two stand for all. */
const EXCEPT_ALWAYS = IS_FULL ? [] : ['.grid-row:nth-child(n + 3)'];

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/**
 * Returns where a page violates WCAG 2.2 A or AA. `except` are parts that are not looked at, because they were before. The policy of the
 * page forbids script elements, so the source of axe is evaluated.
 */
export async function violationsOf(page: Page, ...except: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(SOURCE);
  const { violations } = await page.evaluate(
    ([tags, exclude]) =>
      (globalThis as unknown as { axe: typeof axe }).axe.run(
        { exclude: exclude.map((each) => [each]) },
        // What is passed is not listed: a grid has two thousand cells.
        { runOnly: { type: 'tag', values: tags }, resultTypes: ['violations'] },
      ),
    [TAGS, [...except, ...EXCEPT_ALWAYS]] as [string[], string[]],
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')}: ${failureSummary}`),
  );
}

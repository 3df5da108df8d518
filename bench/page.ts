import { join } from 'node:path';

/** The heading of the section that test/terminal/bench/run.ts writes. */
export const TERMINAL_HEADING = '## The web terminal';

const PAGE = join(import.meta.dir, '../docs/benchmarks.md');

/** Returns a section of a page, from its heading to the next heading. Returns an empty text if the page does not have the section. */
export function sectionUnder(heading: string, page: string): string {
  const start = page.indexOf(heading);
  if (start < 0) return '';
  const next = page.indexOf('\n## ', start + heading.length);
  return page.slice(start, next < 0 ? undefined : next + 1);
}

/** Writes a section to the end of docs/benchmarks.md, and removes the old section with the same heading. */
export async function writeSection(heading: string, section: string): Promise<void> {
  const page = await Bun.file(PAGE).text();
  await Bun.write(PAGE, `${page.replace(sectionUnder(heading, page), '').trimEnd()}\n\n${section}`);
}

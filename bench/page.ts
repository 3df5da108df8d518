import { join } from 'node:path';

const PAGE = join(import.meta.dir, '../docs/benchmarks.md');

/** A section as it stands on a page, from its heading to the next; empty where there is none. */
export function sectionUnder(heading: string, page: string): string {
  const start = page.indexOf(heading);
  if (start < 0) return '';
  const next = page.indexOf('\n## ', start + heading.length);
  return page.slice(start, next < 0 ? undefined : next + 1);
}

/** Puts a section at the end of the page of benchmarks, in place of the one with its heading. */
export async function keepSection(heading: string, section: string): Promise<void> {
  const page = await Bun.file(PAGE).text();
  await Bun.write(PAGE, `${page.replace(sectionUnder(heading, page), '').trimEnd()}\n\n${section}`);
}

/**
 * `bun run gen` writes every generated file: docs/reference, docs/terminal.md, web/operations.json, web/figure-fields.json, the examples of
 * the OpenAPI document, and from recorded chains docs/examples and docs/methods/recorded.md.
 * Without `ZOMMA_RECORDED_CHAINS=DIR`, leaves the pages of recorded chains unchanged and prints a note. Tests compare the pages with the
 * code.
 */
import { join, relative } from 'node:path';
import { EXAMPLES_FOLDER, examplePages } from './examples.ts';
import { OPENAPI_EXAMPLES, openapiExamples } from './openapi-examples.ts';
import { PAGE_FIGURES, pageFigures } from './page-figures.ts';
import { PAGE_OPERATIONS, pageOperations } from './page-operations.ts';
import { METHODS_PAGE, recordedPage } from './recorded-table.ts';
import { REFERENCE_FOLDER, referencePages } from './reference.ts';
import { TERMINAL_PAGE, terminalPage } from './terminal-page.ts';

const dir = process.env.ZOMMA_RECORDED_CHAINS;
const pages = new Map<string, string>();
for (const [file, text] of referencePages()) pages.set(join(REFERENCE_FOLDER, file), text);
pages.set(TERMINAL_PAGE, terminalPage());
pages.set(PAGE_OPERATIONS, pageOperations());
pages.set(PAGE_FIGURES, pageFigures());
pages.set(OPENAPI_EXAMPLES, await openapiExamples());
if (dir) {
  for (const [file, text] of examplePages(dir)) pages.set(join(EXAMPLES_FOLDER, file), text);
  pages.set(METHODS_PAGE, recordedPage(dir));
}

let changed = 0;
for (const [path, text] of pages) {
  const file = Bun.file(path);
  if ((await file.exists()) && (await file.text()) === text) continue;
  await Bun.write(path, text);
  changed++;
  process.stdout.write(`wrote ${relative(join(import.meta.dir, '..'), path)}\n`);
}
process.stdout.write(`${changed} of ${pages.size} generated files changed\n`);
if (!dir)
  process.stdout.write(
    'docs/examples and docs/methods/recorded.md need recorded chains: set ZOMMA_RECORDED_CHAINS to their folder\n',
  );

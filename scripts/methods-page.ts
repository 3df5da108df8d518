/**
 * Reads the pages of docs/methods for the web terminal, as one page. build.ts and the tests call it. Formulas are converted to MathML here,
 * so that the page needs no library for them.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import temml from 'temml';
import type { MarkdownBlock, MathNode } from '../web/markdown/markdown-page.ts';
import { parseMarkdown } from './parse-markdown.ts';

const ROOT = join(import.meta.dir, '..');
const NAMES = [
  'chain',
  'kernels',
  'levels',
  'flow',
  'surface',
  'probabilities',
  'history',
  'constants',
  'sources',
  'recorded',
];

/** The pages, as paths from the root of the repository. */
export const METHODS_FILES: readonly string[] = NAMES.map((name) => `docs/methods/${name}.md`);

/** Returns the blocks of all pages. A link from one page to a section of another one becomes a link within the blocks. */
export function methodsPage(): MarkdownBlock[] {
  const betweenPages = new RegExp(`\\]\\((?:${NAMES.join('|')})\\.md#`, 'g');
  return METHODS_FILES.flatMap((file) =>
    withMath(parseMarkdown(readFileSync(join(ROOT, file), 'utf8').replace(betweenPages, '](#'))),
  );
}

/** Returns the blocks with the MathML of each formula. */
function withMath(blocks: readonly MarkdownBlock[]): MarkdownBlock[] {
  return blocks.map((block) => {
    if (block.kind === 'formula') return { ...block, math: mathOfTex(block.tex) };
    return block.kind === 'list' ? { ...block, items: block.items.map(withMath) } : block;
  });
}

/** Returns the MathML of a displayed formula. Throws `ParseError` of temml if the TeX is invalid. */
export function mathOfTex(tex: string): MathNode {
  const markup = temml.renderToString(tex, { displayMode: true, throwOnError: true, strict: true, xml: true });
  const open: [name: string, attributes: Record<string, string>, children: MathNode[]][] = [['', {}, []]];
  for (const [, end, name, attributes, text] of markup.matchAll(/<(\/?)(\w+)((?: [\w:-]+="[^"]*")*)\s*>|([^<]+)/g)) {
    if (text !== undefined) open.at(-1)![2].push(decoded(text));
    else if (end) {
      const element = open.pop()!;
      open.at(-1)![2].push(element);
    } else open.push([name!, attributesOf(attributes!), []]);
  }
  return open[0]![2][0]!;
}

/** Leaves out classes and styles: the page has no style sheet of temml, and forbids styles in markup. */
function attributesOf(text: string): Record<string, string> {
  const all = [...text.matchAll(/ ([\w:-]+)="([^"]*)"/g)].map(([, name, value]) => [name!, decoded(value!)] as const);
  return Object.fromEntries(all.filter(([name]) => !['class', 'style', 'xmlns'].includes(name)));
}

function decoded(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}

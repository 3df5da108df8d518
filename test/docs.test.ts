import { expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { METHODS_FILES, methodsPage } from '../scripts/methods-page.ts';
import { parseMarkdown } from '../scripts/parse-markdown.ts';
import { TOOLS } from '../src/operations/registry.ts';
import { sectionOf } from '../web/markdown/markdown-page.ts';

/** The documentation matches the code. */
const ROOT = resolve(import.meta.dir, '..');
const page = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const PAGES = [
  ...['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];

/** Links of a page to files of the repository: the path from the root of the repository, and the anchor or an empty text. */
function linksOf(path: string): { file: string; anchor: string }[] {
  return [...page(path).matchAll(/\]\((?!https?:|\/)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(([, file, anchor = '']) => ({
    file: file === '' ? path : relative(ROOT, join(ROOT, dirname(path), file!)),
    anchor,
  }));
}

/** The anchors of a page: those of its headings as GitHub makes them, and those that it names itself. */
const anchorsOf = memoized((path: string) => {
  const headings = parseMarkdown(page(path)).flatMap((block) => (block.kind === 'heading' ? [block.id] : []));
  return new Set([...headings, ...[...page(path).matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id!)]);
});

function memoized<T>(compute: (path: string) => T): (path: string) => T {
  const known = new Map<string, T>();
  return (path) => known.get(path) ?? known.set(path, compute(path)).get(path)!;
}

const METHODS = methodsPage();

test.each(TOOLS.map(({ name, tool }) => [name, tool!.method] as const))(
  'a page of docs/methods describes the answer of %s',
  (name, method) => {
    const section = JSON.stringify(sectionOf(METHODS, method));
    expect(section, `docs/methods lacks a section #${method} that names ${name}`).toContain(name);
    expect([...anchorsOf('docs/methods.md')], `docs/methods.md lacks the anchor ${method} of ${name}`).toContain(
      method,
    );
  },
);

/** The sections of docs/methods.md while it was one page. Answers, pages and bookmarks of earlier versions link to them. */
const OLD_METHODS = [
  ...['conventions', 'kernels', 'preparing-a-chain', 'gex-nodes-get_live_gex_nodes-get-apiv1nodesgexticker'],
  ...['flow-get_whale_prints', 'signed-flow-signflow-get-apiv1flowticker', 'other-views-of-the-levels', 'history'],
  ...['screen-screen_tickers-get-apiv1screen', 'whether-levels-held'],
  ...['volatility-surface-get-apiv1surfaceticker-zomma-surface'],
  ...['option-quotes-get_option_quotes-get-apiv1quotesticker', 'jump-probability-calculate_merton_probability'],
  ...['touching-the-strike', 'kelly-calculate_kelly_sizing', 'radar-run_strategic_omni_radar'],
  ...['energy-evaluate_market_hamiltonian', 'hedging-nodes-detect_lethal_nodes', 'the-coming-day'],
  ...['hedging-over-moves-get_hedging_profile', 'contagion-evaluate_etf_contagion'],
  ...['recorded-chains-under-each-set-of-options', 'sources'],
];

test.each(OLD_METHODS)('the old section methods.md#%s leads to its text', (anchor) => {
  expect([...anchorsOf('docs/methods.md')]).toContain(anchor);
  const [, target] = new RegExp(`<a id="${anchor}"></a>\\[[^\\]]+\\]\\(([^)]+)\\)`).exec(page('docs/methods.md')) ?? [];
  const [file = '', at = ''] = target!.split('#');
  expect(sectionOf(parseMarkdown(page(`docs/${file}`)), at).length).toBeGreaterThan(1);
  expect(sectionOf(METHODS, anchor).length).toBeGreaterThan(1);
});

test('a section of methods is on one page only', () => {
  const anchors = METHODS_FILES.flatMap((file) => [...anchorsOf(file)]);
  expect(anchors).toHaveLength(new Set(anchors).size);
  expect(
    readdirSync(join(ROOT, 'docs/methods'))
      .map((file) => `docs/methods/${file}`)
      .sort(),
  ).toEqual(METHODS_FILES.toSorted());
});

test('the threat model names only source files that exist', () => {
  const named = [...page('docs/threat-model.md').matchAll(/`(src\/[^`]+)`/g)].map(([, path]) => path!);
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test('links between the pages lead to files and sections that exist', () => {
  const links = PAGES.flatMap((path) => linksOf(path).map((link) => ({ path, ...link })));
  expect(links.filter(({ anchor }) => anchor !== '').length).toBeGreaterThan(100);
  const broken = links.filter(({ file, anchor }) => {
    if (!existsSync(join(ROOT, file))) return true;
    return anchor !== '' && file.endsWith('.md') && !anchorsOf(file).has(anchor);
  });
  expect(broken).toEqual([]);
});

import page from '../../docs/tool-methods.md' with { type: 'text' };

const [INTRODUCTION = '', ...SECTIONS] = page.split(/^(?=## )/m);

/** A line of a section that leads to another page, which a model cannot read. */
const LINK = /^\[[^\]]+\]\([^)]+\)\n?/gm;

/** What every answer has in `provenance`: a paragraph of the introduction. */
const [PROVENANCE = ''] = /^\*\*Provenance\.\*\*.*?(?=\n\n)/ms.exec(INTRODUCTION) ?? [];

/** The methods of each tool as Markdown with formulas in TeX, by the name of the tool: a section of docs/tool-methods.md, and `PROVENANCE`. */
export const METHODS: ReadonlyMap<string, string> = new Map(
  SECTIONS.map((section) => [
    /^## (\S+)/.exec(section)![1]!,
    `${section.replaceAll(LINK, '').trim()}\n\n${PROVENANCE}`,
  ]),
);

/** The conventions of all figures, and the resources with the methods of each tool. */
export const METHODS_OVERVIEW = [
  INTRODUCTION.trim(),
  ...[...METHODS.keys()].map((name) => `- zomma://methods/${name}`),
].join('\n');

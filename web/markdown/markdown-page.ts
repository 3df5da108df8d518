/** A piece of Markdown text within a line. */
export type MarkdownSpan =
  | { readonly kind: 'text' | 'code'; readonly text: string }
  | { readonly kind: 'strong' | 'em'; readonly spans: readonly MarkdownSpan[]; readonly href?: undefined }
  | { readonly kind: 'link'; readonly spans: readonly MarkdownSpan[]; readonly href: string };

/** A block of a Markdown page. The `id` of a heading is its anchor on GitHub. A list item contains blocks, a table cell spans. */
export type MarkdownBlock =
  | { readonly kind: 'heading'; readonly level: number; readonly id: string; readonly spans: readonly MarkdownSpan[] }
  | { readonly kind: 'paragraph'; readonly spans: readonly MarkdownSpan[] }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly (readonly MarkdownBlock[])[] }
  | { readonly kind: 'table'; readonly rows: readonly (readonly (readonly MarkdownSpan[])[])[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'formula'; readonly tex: string; readonly math?: MathNode };

/** MathML: a text, or an element as an array of its name, its attributes and its children. */
export type MathNode =
  | string
  | readonly [name: string, attributes: Readonly<Record<string, string>>, children: readonly MathNode[]];

/** Returns the text of spans without formatting. */
export function plainText(spans: readonly MarkdownSpan[]): string {
  return spans.map((span) => ('text' in span ? span.text : plainText(span.spans))).join('');
}

/** Returns the heading with an anchor, and the blocks up to the next heading of its level or a higher one. Empty without the heading. */
export function sectionOf(blocks: readonly MarkdownBlock[], id: string): readonly MarkdownBlock[] {
  const start = blocks.findIndex((block) => block.kind === 'heading' && block.id === id);
  if (start < 0) return [];
  const { level } = blocks[start] as { level: number };
  const end = blocks.findIndex((block, i) => i > start && block.kind === 'heading' && block.level <= level);
  return blocks.slice(start, end < 0 ? undefined : end);
}

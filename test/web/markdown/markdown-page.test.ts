import { describe, expect, test } from 'bun:test';
import { mathOfTex, methodsPage } from '../../../scripts/methods-page.ts';
import { parseMarkdown } from '../../../scripts/parse-markdown.ts';
import {
  type MarkdownBlock,
  type MarkdownSpan,
  type MathNode,
  plainText,
  sectionOf,
} from '../../../web/markdown/markdown-page.ts';

const text = (value: string) => ({ kind: 'text', text: value }) as const;
const code = (value: string) => ({ kind: 'code', text: value }) as const;
const paragraph = (...spans: MarkdownSpan[]): MarkdownBlock => ({ kind: 'paragraph', spans });

/** Returns a table whose cells have one span each. */
const table = (...rows: MarkdownSpan[][]): MarkdownBlock => ({
  kind: 'table',
  rows: rows.map((cells) => cells.map((span) => [span])),
});
const list = (isOrdered: boolean, ...items: MarkdownBlock[][]): MarkdownBlock => ({ kind: 'list', isOrdered, items });

describe('blocks', () => {
  test.each<[name: string, source: string, blocks: MarkdownBlock[]]>([
    ['lines of a paragraph are joined', 'one\n  two\n\nthree', [paragraph(text('one two')), paragraph(text('three'))]],
    [
      'a heading has the anchor that GitHub makes',
      '## GEX nodes (`get_gex`, `GET /api/v1/nodes/{ticker}`)',
      [
        {
          kind: 'heading',
          level: 2,
          id: 'gex-nodes-get_gex-get-apiv1nodesticker',
          spans: [text('GEX nodes ('), code('get_gex'), text(', '), code('GET /api/v1/nodes/{ticker}'), text(')')],
        },
      ],
    ],
    [
      'a list with an item of two paragraphs and a list within',
      'before\n- one\n  more\n\n  second\n  1. in\n- two\nafter',
      [
        paragraph(text('before')),
        list(
          false,
          [paragraph(text('one more')), paragraph(text('second')), list(true, [paragraph(text('in'))])],
          [paragraph(text('two'))],
        ),
        paragraph(text('after')),
      ],
    ],
    [
      'a table with a bar in a cell',
      '| a | b |\n|---|:-:|\n| `x` | \\|V\\| |\n\nend',
      [table([text('a'), text('b')], [code('x'), text('|V|')]), paragraph(text('end'))],
    ],
    [
      'a fence is text as it stands',
      '```sh\n# not *a* heading\n```\nx',
      [{ kind: 'code', text: '# not *a* heading' }, paragraph(text('x'))],
    ],
    [
      'a formula within a paragraph and within a list',
      'with\n$$\na < b\n  + c\n$$\n- x\n\n  $$\n  y\n  $$\n',
      [
        paragraph(text('with')),
        { kind: 'formula', tex: 'a < b\n  + c' },
        list(false, [paragraph(text('x')), { kind: 'formula', tex: 'y' }]),
      ],
    ],
    ['a comment is left out', '<!-- generated\n-->\nx', [paragraph(text('x'))]],
    ['HTML is text', '<img src=x onerror=y>', [paragraph(text('<img src=x onerror=y>'))]],
  ])('%s', (_name, source, blocks) => {
    expect(parseMarkdown(source)).toEqual(blocks);
  });
});

describe('spans', () => {
  test.each<[source: string, spans: MarkdownSpan[]]>([
    [
      '**T** is *the* `as_of`',
      [
        { kind: 'strong', spans: [text('T')] },
        text(' is '),
        { kind: 'em', spans: [text('the')] },
        text(' '),
        code('as_of'),
      ],
    ],
    ['E[Δ] - Δ) of [`a_b`](#a-b)', [text('E[Δ] - Δ) of '), { kind: 'link', href: '#a-b', spans: [code('a_b')] }]],
    ['gex_flip and a_b_c', [text('gex_flip and a_b_c')]],
    ['`a * b` * c', [code('a * b'), text(' * c')]],
  ])('%s', (source, spans) => {
    expect(parseMarkdown(source)).toEqual([paragraph(...spans)]);
  });
});

const methods = methodsPage();

describe('formulas', () => {
  test('become MathML without classes and styles', () => {
    const node = (name: string, ...children: MathNode[]): MathNode => [name, {}, children];
    const power = node('msup', node('mi', 'b'), node('mn', '2'));
    const row = node('mrow', node('mi', 'a'), node('mo', '<'), power);
    expect(mathOfTex('a < b^2')).toEqual(['math', { display: 'block' }, [row]]);
  });

  test('with invalid TeX stop the build', () => {
    expect(() => mathOfTex('\\frac{a}')).toThrow();
    expect(() => mathOfTex('\\unknown')).toThrow();
  });
});

describe('the pages of methods', () => {
  const everySpan = (blocks: readonly MarkdownBlock[]): MarkdownSpan[] =>
    blocks.flatMap((block) => {
      if (block.kind === 'code' || block.kind === 'formula') return [];
      if (block.kind === 'list') return block.items.flatMap(everySpan);
      const spans = block.kind === 'table' ? block.rows.flat(2) : block.spans;
      return spans.flatMap((span) => ('spans' in span ? [span, ...span.spans] : [span]));
    });

  test('has no mark that the parser does not know', () => {
    const texts = everySpan(methods).flatMap((span) => (span.kind === 'text' ? [span.text] : []));
    expect(texts.length).toBeGreaterThan(500);
    expect(texts.filter((each) => /`|\*\*|\]\(|^#|---|\$\$/.test(each))).toEqual([]);
  });

  test('has a heading for each of its own anchors', () => {
    const anchors = everySpan(methods).flatMap((span) =>
      span.kind === 'link' && span.href.startsWith('#') ? [span.href.slice(1)] : [],
    );
    expect(anchors.length).toBeGreaterThan(8);
    expect(anchors.filter((anchor) => sectionOf(methods, anchor).length < 2)).toEqual([]);
  });

  test('a section ends at the next heading of its level', () => {
    const headings = (id: string) =>
      sectionOf(methods, id).flatMap((block) => (block.kind === 'heading' ? [plainText(block.spans)] : []));
    expect(headings('the-coming-day')).toEqual(['The coming day']);
    expect(headings('hedging-nodes-detect_lethal_nodes')).toEqual([
      'Hedging nodes (detect_lethal_nodes)',
      'The coming day',
    ]);
    expect(headings('nowhere')).toEqual([]);
  });
});

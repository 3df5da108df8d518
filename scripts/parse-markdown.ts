import { type MarkdownBlock, type MarkdownSpan, plainText } from '../web/markdown/markdown-page.ts';

const FORMULA = '$$';
const FENCE = /^```/;
const HEADING = /^(#{1,6}) +(.+)$/;
const ITEM = /^([-*]|\d+\.) +/;
const TABLE = /^\|.*\n\|[\s:|-]+\|(?:\n|$)/;

/**
 * Parses the subset of Markdown that the documentation uses. Comments are left out, and HTML is treated as text. The page
 * gets the blocks, so that it needs no parser.
 */
export function parseMarkdown(text: string): MarkdownBlock[] {
  const lines = text.replace(/<!--.*?-->/gs, '').split('\n');
  const blocks: MarkdownBlock[] = [];
  const takeWhile = (isPart: (line: string) => boolean) => {
    const taken: string[] = [];
    while (lines.length > 0 && isPart(lines[0]!)) taken.push(lines.shift()!);
    return taken;
  };
  while (lines.length > 0) {
    const line = lines[0]!;
    const [, marks, title] = HEADING.exec(line) ?? [];
    if (line.trim() === '') lines.shift();
    else if (FENCE.test(line)) {
      lines.shift();
      blocks.push({ kind: 'code', text: takeWhile((each) => !FENCE.test(each)).join('\n') });
      lines.shift();
    } else if (line.trim() === FORMULA) {
      lines.shift();
      blocks.push({ kind: 'formula', tex: takeWhile((each) => each.trim() !== FORMULA).join('\n') });
      lines.shift();
    } else if (title) {
      lines.shift();
      blocks.push({ kind: 'heading', level: marks!.length, id: anchorOf(title), spans: parseSpans(title) });
    } else if (TABLE.test(`${line}\n${lines[1] ?? ''}`)) {
      const [head, , ...rows] = takeWhile((each) => each.startsWith('|'));
      blocks.push({ kind: 'table', rows: [head!, ...rows].map((row) => cellsOf(row).map(parseSpans)) });
    } else if (ITEM.test(line)) {
      const isOrdered = /^\d/.test(line);
      const items: MarkdownBlock[][] = [];
      while (lines.length > 0 && ITEM.test(lines[0]!) && /^\d/.test(lines[0]!) === isOrdered) {
        const [marker] = ITEM.exec(lines[0]!)!;
        const first = lines.shift()!.slice(marker.length);
        const rest = takeWhile((each) => each.trim() === '' || each.startsWith('  '));
        const indent = Math.min(...rest.filter((each) => each.trim() !== '').map((each) => each.search(/\S/)));
        items.push(parseMarkdown([first, ...rest.map((each) => each.slice(indent))].join('\n')));
      }
      blocks.push({ kind: 'list', isOrdered, items });
    } else {
      const [first] = lines.splice(0, 1);
      const isPart = (each: string) => ![FORMULA, ''].includes(each.trim()) && !HEADING.test(each) && !ITEM.test(each);
      const rest = takeWhile(isPart);
      blocks.push({ kind: 'paragraph', spans: parseSpans([first!, ...rest].map((each) => each.trim()).join(' ')) });
    }
  }
  return blocks;
}

function cellsOf(row: string): string[] {
  const cells = row.split(/(?<!\\)\|/).slice(1, -1);
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'));
}

const SPAN = /`([^`]+)`|\*\*(.+?)\*\*|\*([^*]+)\*|\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g;

function parseSpans(text: string): MarkdownSpan[] {
  const spans: MarkdownSpan[] = [];
  let end = 0;
  for (const match of text.matchAll(SPAN)) {
    const [whole, code, strong, em, label, href] = match;
    if (match.index > end) spans.push({ kind: 'text', text: text.slice(end, match.index) });
    if (code !== undefined) spans.push({ kind: 'code', text: code });
    else if (strong !== undefined) spans.push({ kind: 'strong', spans: parseSpans(strong) });
    else if (em !== undefined) spans.push({ kind: 'em', spans: parseSpans(em) });
    else spans.push({ kind: 'link', href: href!, spans: parseSpans(label!) });
    end = match.index + whole.length;
  }
  if (end < text.length) spans.push({ kind: 'text', text: text.slice(end) });
  return spans;
}

/** Returns the anchor that GitHub creates for a heading. */
function anchorOf(heading: string): string {
  const text = plainText(parseSpans(heading)).toLowerCase();
  return text.replace(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
}

import { type ComponentChildren, h } from 'preact';
import { type MarkdownBlock, type MarkdownSpan, type MathNode, plainText } from './markdown-page.ts';

interface MarkdownProps {
  readonly blocks: readonly MarkdownBlock[];
  readonly onJump: (anchor: string) => void;
  readonly mark?: string;
}

/**
 * Renders Markdown blocks. A click on a link within the page calls `onJump` with the anchor of the link. All other links are plain text,
 * because the terminal has no external links. A list item that starts with the text `mark` gets the class `marked`.
 */
export function Markdown({ blocks, onJump, mark = '' }: MarkdownProps) {
  const draw = (all: readonly MarkdownBlock[]) =>
    all.map((block, i) => {
      if (block.kind === 'heading') {
        const Heading = block.level > 2 ? 'h5' : 'h4';
        return <Heading key={i}>{spansOf(block.spans)}</Heading>;
      }
      if (block.kind === 'paragraph') return <p key={i}>{spansOf(block.spans)}</p>;
      if (block.kind === 'code') return <pre key={i}>{block.text}</pre>;
      if (block.kind === 'formula')
        return (
          <div key={i} class="wide-table" tabIndex={0}>
            {block.math && mathOf(block.math)}
          </div>
        );
      if (block.kind === 'list') {
        const List = block.isOrdered ? 'ol' : 'ul';
        return (
          <List key={i}>
            {block.items.map((item, row) => (
              <li key={row} class={beginsWith(item, mark) ? 'marked' : undefined}>
                {draw(item)}
              </li>
            ))}
          </List>
        );
      }
      return (
        <div key={i} class="wide-table" tabIndex={0}>
          <table>
            {block.rows.map((cells, row) => (
              <tr key={row}>
                {cells.map((cell, column) => {
                  const Cell = row === 0 ? 'th' : 'td';
                  return <Cell key={column}>{spansOf(cell)}</Cell>;
                })}
              </tr>
            ))}
          </table>
        </div>
      );
    });
  const spansOf = (spans: readonly MarkdownSpan[]): ComponentChildren =>
    spans.map((span, i) => {
      if ('text' in span) return span.kind === 'text' ? span.text : <code key={i}>{span.text}</code>;
      const inner = spansOf(span.spans);
      if (span.kind === 'strong') return <strong key={i}>{inner}</strong>;
      if (span.kind === 'em') return <em key={i}>{inner}</em>;
      const { href } = span;
      if (!href?.startsWith('#')) return inner;
      return (
        <button type="button" key={i} class="jump bare" onClick={() => onJump(href.slice(1))}>
          {inner}
        </button>
      );
    });
  return <>{draw(blocks)}</>;
}

/** Draws MathML. The function creates elements, because the page's policy `require-trusted-types-for` forbids markup as text. */
function mathOf(node: MathNode): ComponentChildren {
  if (typeof node === 'string') return node;
  const [name, attributes, children] = node;
  return h(name, attributes, ...children.map(mathOf));
}

/** Returns whether a list item starts with a text. */
function beginsWith([first]: readonly MarkdownBlock[], words: string): boolean {
  return words !== '' && first?.kind === 'paragraph' && plainText(first.spans).startsWith(words);
}

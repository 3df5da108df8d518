import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { GexView } from '../data/page-answers.ts';
import type { WebAnswer } from '../data/request.ts';
import type { ChosenOptions } from '../state/address.ts';

/** The snapshot that Explain is about. */
export interface ExplainedSnapshot extends GexView {
  readonly ticker: string;
  /** When its quotes were taken, ISO 8601. */
  readonly moment: string;
  /** The options of the analysis. While the answer to other options is on its way, these are not yet those of the page. */
  readonly options: ChosenOptions;
}

export function snapshotOf({ body, asOf, call }: WebAnswer<GexView>): ExplainedSnapshot {
  const { ticker, at: _, ...options } = call.args;
  return { ...body, ticker: String(ticker), moment: asOf!, options: options as ChosenOptions };
}

/** The parts that are open. They stay so from figure to figure. */
const openParts = signal<ReadonlySet<string>>(new Set(['inputs', 'firmness', 'call']));

/**
 * A part of Explain that the member opens and closes. `children` gets whether the part is on the screen, so that it asks the server for
 * nothing that nobody sees.
 */
export function ExplainPart({
  id,
  title,
  children,
}: {
  id: string;
  title: string;
  children: (isVisible: boolean) => ComponentChildren;
}) {
  const ref = useRef<HTMLDetailsElement>(null);
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => setVisible(entries.at(-1)!.isIntersecting));
    observer.observe(ref.current!);
    return () => observer.disconnect();
  }, []);
  const isOpen = openParts.value.has(id);
  return (
    <details
      ref={ref}
      class="explain-part"
      data-part={id}
      open={isOpen}
      onToggle={({ currentTarget: { open } }) => {
        if (open === openParts.peek().has(id)) return;
        const next = new Set(openParts.peek());
        if (open) next.add(id);
        else next.delete(id);
        openParts.value = next;
      }}
    >
      <summary>
        <h3>{title}</h3>
      </summary>
      {isOpen && children(isVisible)}
    </details>
  );
}

/** Names with their values, one in a row. */
export function Facts({ of }: { of: readonly (readonly [name: string, value: string])[] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div key={name} data-fact={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

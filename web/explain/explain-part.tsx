import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ExplainedFigure, FigureTexts } from '../data/figure-texts.ts';
import type { GexView } from '../data/page-answers.ts';
import type { WebAnswer } from '../data/request.ts';
import type { ChosenOptions } from '../state/address.ts';

/** The snapshot whose figure the Explain panel explains. */
export interface ExplainedSnapshot extends GexView {
  readonly ticker: string;
  /** The time of the snapshot's quotes, ISO 8601. */
  readonly moment: string;
  /** The options of the analysis. These options differ from the page's options while the answer for the new options is loading. */
  readonly options: ChosenOptions;
}

export function snapshotOf({ body, asOf, call }: WebAnswer<GexView>): ExplainedSnapshot {
  const { ticker, at: _, ...options } = call.args;
  return { ...body, ticker: String(ticker), moment: asOf!, options: options as ChosenOptions };
}

/** The props of a section of the Explain panel. */
export interface ExplainSectionProps {
  readonly figure: ExplainedFigure;
  /** The strike in dollars if the figure is a strike of the ladder, otherwise null. */
  readonly strike: number | null;
  readonly snapshot: ExplainedSnapshot;
  /** Returns a value of the figure as text. */
  readonly print: (value: number) => string;
  readonly notes: FigureTexts['notes'] | undefined;
  /** False if the section is scrolled out of view. A section out of view sends no requests. */
  readonly isVisible: boolean;
}

/** The ids of the open sections. An open section stays open if the member selects another figure. */
const openParts = signal<ReadonlySet<string>>(new Set(['inputs', 'firmness', 'call', 'all-fields']));

interface ExplainPartProps {
  readonly id: string;
  readonly title: string;
  readonly children: (isVisible: boolean) => ComponentChildren;
}

/** Renders a section of the Explain panel that the member can open and close. `children` is called with true if the section is visible. */
export function ExplainPart({ id, title, children }: ExplainPartProps) {
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

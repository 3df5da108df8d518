import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { savePicture } from '../chart/picture.ts';
import type { RequestProblem, WebAnswer } from '../data/request.ts';
import { PlainTable } from '../grid/plain-table.tsx';
import { type Call, curlOf } from '../operations.ts';
import { newYorkMoment } from '../page-format.ts';
import { page, pageTicker } from '../state/page.ts';
import { asOf, isSimulated } from '../state/page-market.ts';
import { asTables, csvOf, forgetPanel, type PanelTable, registerPanel, toggleTable } from '../state/panels.ts';
import { copy, save } from '../state/ui.ts';

export interface ChartPanelProps {
  /** Unique on the page: the name of the panel in files and tests. */
  readonly id: string;
  readonly title: string;
  /** The unit of the figures, and what else a reader needs to read the chart. */
  readonly unit?: string;
  readonly call?: Call | undefined;
  /** The moment of the answer, if it is not that of the page. */
  readonly answer?: WebAnswer<unknown> | undefined;
  readonly problem?: RequestProblem | undefined;
  /** True while an answer is on its way that takes longer than a moment. */
  readonly isSlow?: boolean;
  readonly table?: PanelTable | undefined;
  /** What the cursor reads, in a fixed place. */
  readonly readout?: ComponentChildren;
  readonly controls?: ComponentChildren;
  /** True if the operation of the panel takes no options, so that it cannot follow those of the page. */
  readonly ignoresOptions?: boolean;
  /** Further acts of the panel's menu. */
  readonly menu?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/**
 * The frame of every chart: its heading with unit and moment, the read-out, and the menu with table, call, CSV and picture. A problem of the
 * panel's own call stands in place of the chart.
 */
export function ChartPanel(props: ChartPanelProps) {
  const { id, title, unit, call, answer, problem, isSlow, table, readout, controls, menu, children } = props;
  const ref = useRef<HTMLElement>(null);
  useEffect(() => {
    const element = ref.current!;
    registerPanel({ id, title, element, call, table });
    return () => forgetPanel(id, element);
  }, [id, title, call, table]);
  const isTable = asTables.value.has(id) && table !== undefined;
  const moment = answer?.asOf ?? asOf.value;
  const isOther = asOf.value !== undefined && moment !== asOf.value;
  const fileName = (kind: string) =>
    `zomma-${pageTicker.value.replace('^', '')}-${id}-${(moment ?? '').replace(/[:.]/g, '')}.${kind}`;
  const origin = () => ({ ticker: pageTicker.value, asOf: moment ?? '', isSimulated: isSimulated.value });
  return (
    <section ref={ref} class={`panel ${props.class ?? ''}`} data-panel={id} data-as-of={moment} aria-label={title}>
      <header class="panel-head">
        <div class="panel-title">
          <h2>{title}</h2>
          {unit && (
            <span class="unit">
              {' '}
              {unit}
              {props.ignoresOptions && Object.keys(page.value.options)[0] && ' · with the default options'}
            </span>
          )}
          {isOther && <span class="moment"> of {newYorkMoment(moment)}</span>}
          {isSlow && <span class="waiting"> waiting for the server</span>}
        </div>
        <div class="panel-actions">
          {controls}
          <PanelMenu title={title}>
            {table && (
              <button type="button" aria-pressed={isTable} onClick={() => toggleTable(id)} title="Key: v">
                {isTable ? 'Show the chart' : 'Show the table'}
              </button>
            )}
            {call && (
              <button type="button" title="Key: c" onClick={() => copy(curlOf(call, location.origin), 'curl')}>
                Copy as curl
              </button>
            )}
            {table && (
              <button
                type="button"
                onClick={() => save(fileName('csv'), new Blob([csvOf(table, origin())], { type: 'text/csv' }))}
              >
                Save CSV
              </button>
            )}
            <button
              type="button"
              class="png"
              onClick={() => savePicture(ref.current!, fileName('png'), { title, unit: unit ?? '', ...origin() })}
            >
              Save picture
            </button>
            {menu}
          </PanelMenu>
        </div>
      </header>
      {readout !== undefined && <p class="readout">{readout}</p>}
      {problem && !answer ? (
        <Problem problem={problem} />
      ) : isTable ? (
        <PlainTable table={table!} title={title} />
      ) : (
        children
      )}
    </section>
  );
}

/** What went wrong with a call, and what to do. */
export function Problem({ problem }: { problem: RequestProblem }) {
  return (
    <div class="problem" role="note">
      <p>
        <strong>{problem.message}</strong>
      </p>
      {problem.hint && <p>{problem.hint}</p>}
    </div>
  );
}

/** The acts of a panel, in a menu that closes when the focus leaves it. */
function PanelMenu({ title, children }: { title: string; children: ComponentChildren }) {
  const ref = useRef<HTMLDetailsElement>(null);
  const close = () => ref.current?.removeAttribute('open');
  return (
    <details
      ref={ref}
      class="panel-menu"
      onFocusOut={(event) => !ref.current?.contains(event.relatedTarget as Node | null) && close()}
      onClick={(event) => event.target instanceof HTMLButtonElement && close()}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !ref.current?.open) return;
        close();
        ref.current.querySelector('summary')!.focus();
        event.stopPropagation();
      }}
    >
      <summary aria-label={`${title}: table, copy, save`}>⋯</summary>
      <div>{children}</div>
    </details>
  );
}

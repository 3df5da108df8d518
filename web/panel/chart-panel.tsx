import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { savePicture } from '../chart/picture.ts';
import type { Asked } from '../data/page-answers.ts';
import type { RequestProblem, WebAnswer } from '../data/request.ts';
import { PlainTable } from '../grid/plain-table.tsx';
import { type Call, curlOf, WEB_OPERATIONS } from '../operations.ts';
import { newYorkMoment } from '../page-format.ts';
import { navigate, page, pageTicker } from '../state/page.ts';
import { asOf, isSimulated } from '../state/page-market.ts';
import { asTables, csvOf, forgetPanel, type PanelTable, registerPanel, toggleTable } from '../state/panels.ts';
import { callScope, pageScope } from '../state/scope.ts';
import { copy, save } from '../state/ui.ts';

export interface ChartPanelProps {
  /** The unique id of the panel, which file names and tests use. */
  readonly id: string;
  readonly title: string;
  /** The unit of the figures, and other facts that are needed to read the chart. */
  readonly unit?: string;
  readonly call?: Call | undefined;
  /** The state of the panel's own request. Undefined if the panel shows the page's answer. */
  readonly answer?: WebAnswer<unknown> | undefined;
  readonly problem?: RequestProblem | undefined;
  /** True if a request takes so long that the member would notice the delay. */
  readonly isSlow?: boolean;
  readonly table?: PanelTable | undefined;
  /** The figures at the cursor. The panel shows this text in a fixed position. */
  readonly readout?: ComponentChildren;
  readonly controls?: ComponentChildren;
  /** More items for the panel's menu. */
  readonly menu?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/**
 * Renders the frame of a chart: a heading with unit and moment, the figures at the cursor, and a menu. If the call fails, an error message
 * replaces the chart.
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
  // The options are those of the figures, and not of a newer call that is still running.
  const scope = callScope(answer?.call ?? call, moment);
  const isOtherScope = call !== undefined && WEB_OPERATIONS[call.operation].ofMarket && scope !== pageScope(moment);
  const origin = () => ({ ticker: pageTicker.value, asOf: moment ?? '', isSimulated: isSimulated.value, scope });
  return (
    <section ref={ref} class={`panel ${props.class ?? ''}`} data-panel={id} data-as-of={moment} aria-label={title}>
      <header class="panel-head row">
        <div class="panel-title">
          <h2>{title}</h2>
          {unit && <span class="unit small"> {unit}</span>}
          {isOtherScope && <span class="small"> with {scope || 'the default options'}</span>}
          {isOther && <span class="moment small"> of {newYorkMoment(moment)}</span>}
          {isSlow && <span class="waiting small"> waiting for the server</span>}
        </div>
        <div class="row">
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
      {readout !== undefined && (
        <p class="readout clip muted" title={typeof readout === 'string' ? readout : undefined}>
          {readout}
        </p>
      )}
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

/** Renders the error message of a failed call, and its hint. */
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

/** Renders a placeholder for figures: an empty line, a waiting message after a delay, or an error message with a hint. */
export function ViewState({ asked }: { asked: Asked<unknown> }) {
  const { problem, isSlow } = asked;
  if (!problem) return isSlow ? <p class="state">Waiting for the server…</p> : <p class="state" />;
  return (
    <div class="state">
      <Problem problem={problem} />
      {problem.nearest.length > 0 && (
        <p>
          {page.value.ticker} has snapshots at{' '}
          {problem.nearest.map((moment) => (
            <button type="button" key={moment} onClick={() => navigate({ at: moment })}>
              {newYorkMoment(moment)}
            </button>
          ))}
        </p>
      )}
      {page.value.at !== null && (
        <button type="button" onClick={() => navigate({ at: null })}>
          Back to live
        </button>
      )}
    </div>
  );
}

/** Renders the menu of a panel. The menu closes when it loses the focus. */
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

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { savePicture } from '../chart/picture.ts';
import type { Asked } from '../data/page-answers.ts';
import type { RequestProblem, WebAnswer } from '../data/request.ts';
import { PlainTable } from '../grid/plain-table.tsx';
import { type Call, curlOf, WEB_OPERATIONS } from '../operations.ts';
import { newYorkMoment } from '../page-format.ts';
import { navigate, page, pageOptions, pageTicker } from '../state/page.ts';
import { asOf, isSimulated, isWithoutData, tickersWithData } from '../state/page-market.ts';
import { asTables, csvOf, forgetPanel, type PanelTable, registerPanel, toggleTable } from '../state/panels.ts';
import { staleText } from '../state/ribbon.ts';
import { callExpiries, callScope, hasOtherOptions, setScope } from '../state/scope.ts';
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

/** Renders the frame of a chart: heading with unit and moment, read-out, and menu. An error message replaces the chart of a failed call. */
export function ChartPanel(props: ChartPanelProps) {
  const { id, title, unit, call, answer, problem, isSlow, table, readout, controls, menu, children } = props;
  const ref = useRef<HTMLElement>(null);
  const saver = useRef<(kind: 'csv' | 'png') => void>(() => {});
  useEffect(() => {
    const element = ref.current!;
    registerPanel({ id, title, element, call, table, save: (kind) => saver.current(kind) });
    return () => forgetPanel(id, element);
  }, [id, title, call, table]);
  const isTable = asTables.value.has(id) && table !== undefined;
  const moment = answer?.asOf ?? asOf.value;
  const isOther = asOf.value !== undefined && moment !== asOf.value;
  const fileName = (kind: string) =>
    `zomma-${pageTicker.value.replace('^', '')}-${id}-${(moment ?? '').replace(/[:.]/g, '')}.${kind}`;
  // The options are those of the figures, and not of a newer call that is still running.
  const asked = answer && answer.call.operation === call?.operation ? answer.call : call;
  const scope = callScope(asked, moment);
  const expiries = asked && callExpiries(asked, moment);
  const isOtherScope = asked && WEB_OPERATIONS[asked.operation].ofMarket && hasOtherOptions(asked);
  const origin = () => ({
    ticker: pageTicker.value,
    asOf: moment ?? '',
    isSimulated: isSimulated.value,
    stale: staleText.value,
    scope,
  });
  saver.current = (kind) => {
    if (kind === 'png') void savePicture(ref.current!, fileName(kind), { title, unit: unit ?? '', ...origin() });
    else if (table) save(fileName(kind), new Blob([csvOf(table, origin())], { type: 'text/csv' }));
  };
  return (
    <section ref={ref} class={`panel ${props.class ?? ''}`} data-panel={id} data-as-of={moment} aria-label={title}>
      <header class="panel-head row">
        <div class="panel-title">
          <h2>{title}</h2>
          {unit && <span class="unit small"> {unit}</span>}
          {expiries && <span class="small"> · {expiries}</span>}
          {isOtherScope && <span class="small"> with {expiries ? scope : 'the default options'}</span>}
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
              <button type="button" onClick={() => saver.current('csv')}>
                Save CSV
              </button>
            )}
            <button type="button" class="png" onClick={() => saver.current('png')}>
              Save picture
            </button>
            {call && WEB_OPERATIONS[call.operation].ofMarket && (
              <button type="button" title="Key: i" onClick={() => navigate({ explain: call.operation })}>
                Explain the figures
              </button>
            )}
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
  // Sentences with the names of tools are for agents.
  const hint = problem.hint.replace(/[^.]*\b[a-z]+_[a-z_]+\b[^.]*\.?/g, '').trim();
  return (
    <div class="problem" role="note">
      <p>
        <strong>{problem.message}</strong>
      </p>
      {hint && <p>{hint}</p>}
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
      {pageOptions.value.expiries !== 'all' && !isWithoutData(problem) ? (
        <button type="button" onClick={() => setScope('expiries', 'all')}>
          Use all expiries
        </button>
      ) : (
        isWithoutData(problem) && <OtherData />
      )}
    </div>
  );
}

/** Commands that bring the first data, each with what it does. */
const FIRST_DATA = [
  ['zomma ingest FILE', 'loads files of chains, closes, dividends or trades once'],
  ['zomma serve --feed files:DIR', 'loads each file that appears in a folder'],
  ['zomma serve --feed tradier', 'polls a provider (or massive, thetadata, cboe)'],
  ['zomma start', 'runs a simulated market'],
] as const;
/** Maximum number of other tickers that the page offers. */
const OTHERS_MOST = 8;

/** Renders the tickers that have data or, if there is none at all, the commands that bring the first data. */
function OtherData() {
  const others = tickersWithData.value.slice(0, OTHERS_MOST);
  if (others.length === 0) return <FirstData />;
  return (
    <p>
      These tickers have data:{' '}
      {others.map(({ ticker, asOf: moment }) => (
        <button type="button" key={ticker} onClick={() => navigate({ ticker, at: null })}>
          {ticker}, {newYorkMoment(moment)}
        </button>
      ))}
    </p>
  );
}

/** Renders the commands that bring the first data. */
export function FirstData() {
  return (
    <section data-first-data>
      <h2>There is no market data yet</h2>
      <p>On the machine of the server, run one of these:</p>
      <ul>
        {FIRST_DATA.map(([command, effect]) => (
          <li key={command}>
            <code>{command}</code>{' '}
            <button type="button" aria-label={`Copy ${command}`} onClick={() => copy(command, command)}>
              Copy
            </button>{' '}
            <span class="muted">{effect}</span>
          </li>
        ))}
      </ul>
    </section>
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
      onToggle={({ currentTarget: menu }) => {
        // At the end of a view, the menu opens upwards.
        const [view, list] = [menu.closest('.view'), menu.lastElementChild!];
        menu.classList.remove('up');
        if (!menu.open || !view) return;
        const isCut = list.getBoundingClientRect().bottom > view.getBoundingClientRect().bottom;
        menu.classList.toggle('up', isCut);
      }}
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

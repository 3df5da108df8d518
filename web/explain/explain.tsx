import { useLayoutEffect, useRef } from 'preact/hooks';
import { EXPLANATIONS, type FigureFile } from '../data/figure-texts.ts';
import type { GexView } from '../data/page-answers.ts';
import type { WebAnswer } from '../data/request.ts';
import { serverNow } from '../data/server-connection.ts';
import {
  countText,
  duration,
  exactMoment,
  percent,
  plain,
  signedAmount,
  signTone,
  strikeText,
  UNKNOWN,
} from '../page-format.ts';
import { ViewState } from '../panel/chart-panel.tsx';
import { Facts } from '../panel/facts.tsx';
import { tickerFigures } from '../panel/ticker-figures.tsx';
import { navigate, page } from '../state/page.ts';
import { usePageFile } from '../state/page-files.ts';
import { gexView } from '../state/page-market.ts';
import { ExplainCall } from './explain-call.tsx';
import { ExplainChanges } from './explain-changes.tsx';
import { ExplainFields, fieldsName, fieldsOfId } from './explain-fields.tsx';
import { ExplainFirmness } from './explain-firmness.tsx';
import { ExplainInputs } from './explain-inputs.tsx';
import { ExplainMethod } from './explain-method.tsx';
import { ExplainPart, snapshotOf } from './explain-part.tsx';
import { ExplainRecord } from './explain-record.tsx';
import { figureOfId, remarksOn, strikeRow } from './explained-figures.ts';

/** True if the last input came from the keyboard. The focus moves into a newly opened panel only after keyboard input. */
let isByKeyboard = false;
addEventListener('keydown', () => (isByKeyboard = true), true);
addEventListener('pointerdown', () => (isByKeyboard = false), true);

/** Renders the Explain panel of a figure: definition, inputs, firmness, changes, track record, and the API call. */
export function Explain({ id }: { id: string }) {
  const panel = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const asked = gexView.asked.value;
  const texts = usePageFile<FigureFile>('figures');
  const chosen = page.value.explain;
  const known = figureOfId(id);
  const fields = known ? undefined : fieldsOfId(id);
  const told = known && asked.answer && tell(known, asked.answer);
  useLayoutEffect(() => {
    const element = panel.current!;
    element.scrollTop = 0;
    if (chosen === null) return;
    const opener = document.activeElement as HTMLElement | null;
    if (isByKeyboard) heading.current!.focus();
    return () => {
      // When the panel closes, the focus returns to the element that opened the panel.
      const { activeElement, body } = document;
      if (activeElement !== body && !element.contains(activeElement)) return;
      const back = opener?.isConnected && opener !== body ? opener : null;
      (back ?? document.getElementById('main'))?.focus();
    };
  }, [chosen]);
  const hadFocus = panel.current?.contains(document.activeElement);
  useLayoutEffect(() => {
    // A change of the ticker removes the sections from the document. If a section had the focus, the focus moves to the heading.
    if (hadFocus && !panel.current!.contains(document.activeElement)) heading.current!.focus();
  });
  const name = told?.name ?? (fields ? fieldsName(fields) : known ? 'Explain' : 'No such figure');
  return (
    <aside ref={panel} class="explain" data-explain={id} aria-label={`Explain: ${name}`}>
      <header class="ends">
        <h2 ref={heading} tabIndex={-1}>
          {name}
        </h2>
        <button type="button" onClick={() => navigate({ explain: null })}>
          Close <kbd>Esc</kbd>
        </button>
      </header>
      {fields ? (
        <ExplainFields key={id} {...fields} texts={texts} />
      ) : !known ? (
        <p>This page has no figure of this name.</p>
      ) : told ? (
        <Told told={told} answer={asked.answer!} texts={texts} />
      ) : (
        <ViewState asked={asked} />
      )}
    </aside>
  );
}

type Known = NonNullable<ReturnType<typeof figureOfId>>;

/** Returns the name and the value of a figure in a snapshot. If the snapshot has no value, the result contains the reason. */
function tell({ figure, strike }: Known, { body, asOf }: WebAnswer<GexView>) {
  const { levels, strikes } = body;
  if (strike === null) {
    const told = tickerFigures(levels, asOf).find(({ id }) => id === figure)!;
    return { ...told, figure, strike, note: [told.meaning, told.note].filter(Boolean).join(' · '), row: undefined };
  }
  const row = strikeRow(strikes, levels.gross_gex_mil, strike);
  return {
    figure,
    strike,
    name: `Strike ${strikeText(strike)}`,
    value: row ? signedAmount(row.net) : UNKNOWN,
    note: row ? percent(100 * (strike / levels.spot_price - 1)) : 'the snapshot does not have this strike',
    number: row?.net ?? null,
    tone: signTone(row?.net ?? 0),
    print: signedAmount,
    row,
  };
}

interface ToldProps {
  readonly told: ReturnType<typeof tell>;
  readonly answer: WebAnswer<GexView>;
  readonly texts: FigureFile | undefined;
}

/** Renders the figure's value immediately. The texts appear when their separate file has loaded. */
function Told({ told, answer, texts }: ToldProps) {
  const { figure, strike, value, note, number, tone, print, row } = told;
  const text = texts?.figures[figure];
  const snapshot = snapshotOf(answer);
  const section = { figure, strike, snapshot, print, notes: texts?.notes };
  // The note on spot is left out, because it only states the moment of the quotes, which the panel already shows.
  const aside = figure === 'spot_price' ? '' : note;
  return (
    <>
      <p class="explain-value">
        <strong class={`lead ${tone ?? ''}`}>{value}</strong> {number !== null && text?.unit}
        {aside && <span class="muted"> {number === null ? aside : `(${aside})`}</span>}
      </p>
      {number !== null && Math.abs(number) >= 1e5 && <p class="muted">exactly {countText(number)}</p>}
      <Moment moment={snapshot.moment} />
      {text && (
        <>
          <h3>What it is</h3>
          <p>{text.sentence}</p>
          {text.formula && (
            <>
              <pre class="formula">{text.formula}</pre>
              <p class="muted">{texts.notes.symbols}</p>
            </>
          )}
          {remarksOn(texts.remarks, snapshot.options).map((remark) => (
            <p key={remark}>{remark}</p>
          ))}
          <ExplainMethod section={text.section} item={text.item} />
        </>
      )}
      {row && <Row row={row} />}
      <ExplainPart id="inputs" title="What went in">
        {() => <ExplainInputs answer={answer} figure={figure} />}
      </ExplainPart>
      {figure !== 'strike' && (
        <ExplainPart id="firmness" title="How firm it is">
          {(isVisible) =>
            EXPLANATIONS[figure].kind === 'given' ? (
              <p>{texts?.notes.given}</p>
            ) : (
              <ExplainFirmness {...section} isVisible={isVisible} />
            )
          }
        </ExplainPart>
      )}
      <ExplainPart id="changes" title="What changed it">
        {(isVisible) => <ExplainChanges {...section} isVisible={isVisible} />}
      </ExplainPart>
      {strike === null && (
        <ExplainPart id="record" title="Whether it held">
          {(isVisible) => <ExplainRecord {...section} isVisible={isVisible} />}
        </ExplainPart>
      )}
      <ExplainPart id="call" title="The same call">
        {(isVisible) => <ExplainCall {...section} isVisible={isVisible} />}
      </ExplainPart>
    </>
  );
}

/** Renders the time of the quotes and their current age. */
function Moment({ moment }: { moment: string }) {
  const ageS = (serverNow.value - Date.parse(moment)) / 1000;
  return (
    <p class="muted" data-as-of={moment}>
      {exactMoment(moment)}, {duration(ageS)} old
    </p>
  );
}

/** Renders the figures of one strike of the ladder. */
function Row({ row }: { row: NonNullable<ReturnType<typeof strikeRow>> }) {
  return (
    <Facts
      of={[
        ['calls', signedAmount(row.calls)],
        ['puts', signedAmount(row.puts)],
        ['net', signedAmount(row.net)],
        ['sign margin', `${percent(row.signMargin, 1, false)} of its gross gamma`],
        ['share of gross', row.grossShare === null ? UNKNOWN : `${plain(row.grossShare, 3)} % of all gross gamma`],
        ['open interest', `${countText(row.openInterest[0])} calls, ${countText(row.openInterest[1])} puts`],
        ['volume', `${countText(row.volume[0])} calls, ${countText(row.volume[1])} puts`],
      ]}
    />
  );
}

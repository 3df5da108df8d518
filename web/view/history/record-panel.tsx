import { useMemo } from 'preact/hooks';
import {
  LEVEL_NAMES,
  OUTCOME_NOTES,
  OUTCOMES,
  RECORD_LEVELS,
  type RecordDay,
  type RecordLevel,
  rateText,
  recordDays,
  recordScope,
  recordSentence,
  recordTable,
} from '../../chart/record-text.ts';
import { type RecordAnswer, useAnswer } from '../../data/page-answers.ts';
import { DataGrid, fieldColumns, type GridColumn } from '../../grid/data-grid.tsx';
import { countText, newYorkDay, newYorkMoment, price, strikeText } from '../../page-format.ts';
import { ChartPanel } from '../../panel/chart-panel.tsx';
import { historyCall, navigate, page, setOwn, tickerCall } from '../../state/page.ts';
import { fillingPast } from '../../state/page-market.ts';

const ARGS = { days: 365 };

/** Renders the shares of days on which a level held, was touched and was crossed, and those of a control level as far from spot. */
export function RecordPanel({ moment }: { moment: string }) {
  const { own } = page.value;
  const asked = useAnswer<RecordAnswer>(
    historyCall('get_level_record', moment, ARGS),
    `${moment} ${fillingPast.value}`,
  );
  const record = asked.answer?.body;
  const table = useMemo(() => record && recordTable(record), [record]);
  const open = RECORD_LEVELS.find((level) => level === own.days);
  return (
    <ChartPanel
      id="record"
      class="record-panel beside-wide"
      title="Whether levels held"
      unit="percent of days · levels of all expiries, as they stood before the open"
      call={tickerCall('get_level_record', moment, ARGS)}
      {...asked}
      table={table}
      readout={record ? recordScope(record) : ''}
    >
      {record && (
        <div class="chart record" data-chart="record">
          <p class="small" data-label>
            ● the level with its 95 % interval (Wilson) · ○ a level at the same distance from spot
          </p>
          {RECORD_LEVELS.some((level) => !record[level].too_few_days) && <RateScale />}
          {RECORD_LEVELS.map((level) => (
            <RecordRow key={level} record={record} level={level} isOpen={open === level} />
          ))}
        </div>
      )}
      {record && open && <RecordDays key={open} record={record} level={open} />}
    </ChartPanel>
  );
}

/** Renders the scale of the shares, in percent. */
function RateScale() {
  return (
    <div class="record-row record-scale" aria-hidden="true">
      <span />
      {OUTCOMES.map((outcome) => (
        <div key={outcome} class="rate">
          <svg width="100%" height="14" aria-hidden="true">
            {(['start', 'middle', 'end'] as const).map((anchor, i) => (
              <text key={anchor} x={place(50 * i)} y="11" text-anchor={anchor}>
                {50 * i}
              </text>
            ))}
          </svg>
        </div>
      ))}
    </div>
  );
}

function RecordRow({ record, level, isOpen }: { record: RecordAnswer; level: RecordLevel; isOpen: boolean }) {
  const score = record[level];
  return (
    <section class="record-row" aria-label={recordSentence(record, level)} data-level={level}>
      <button
        type="button"
        class="record-name bare ends"
        aria-expanded={isOpen}
        title="List the days"
        onClick={() => setOwn('days', isOpen ? null : level)}
      >
        <strong data-label>
          {isOpen ? '▾' : '▸'} {LEVEL_NAMES[level]}
        </strong>
        <span class="muted" data-label>
          n = {countText(score.n)}
        </span>
      </button>
      {score.too_few_days ? (
        <p class="record-few" data-label>
          {recordSentence(record, level)}
        </p>
      ) : (
        OUTCOMES.map((outcome) => <RateCell key={outcome} outcome={outcome} rate={score[outcome]} />)
      )}
      {!score.too_few_days && (
        <p class="strong" data-label>
          {score.verdict}
        </p>
      )}
    </section>
  );
}

/** Returns the horizontal position of a share. Margins at both ends leave space for the dots. */
const place = (pct: number) => `${4 + 0.92 * pct}%`;

function RateCell({ outcome, rate }: { outcome: keyof typeof OUTCOME_NOTES; rate: RecordAnswer['flip']['held'] }) {
  const { pct, low_pct, high_pct, control_pct } = rate;
  const { share, interval, control } = rateText(rate);
  return (
    <div class="rate" title={OUTCOME_NOTES[outcome]} data-outcome={outcome}>
      <span class="rate-name">
        <span data-label>{outcome}</span> <b data-label>{share}</b> <small data-label>{interval}</small>
      </span>
      <svg width="100%" height="26" aria-hidden="true">
        {[0, 25, 50, 75, 100].map((each) => (
          <line key={each} class="grid-line" x1={place(each)} x2={place(each)} y1="0" y2="26" />
        ))}
        {pct !== null && low_pct !== null && high_pct !== null && (
          <>
            <line class="interval" x1={place(low_pct)} x2={place(high_pct)} y1="8" y2="8" />
            <circle class="dot" cx={place(pct)} cy="8" r="4.5" />
          </>
        )}
        {control_pct !== null && <circle class="control" cx={place(control_pct)} cy="19" r="4" />}
      </svg>
      <span class="rate-note muted" data-label>
        ○ {control}
      </span>
    </div>
  );
}

const column = fieldColumns<RecordDay>();
const levelsText = (levels: readonly number[]) =>
  levels.map((each) => strikeText(Math.round(100 * each) / 100)).join(' to ');
const yes = (value: boolean) => (value ? 'yes' : 'no');

/** Renders the days of a level. A click on a day sets the page to the moment of this day's levels. */
function RecordDays({ record, level }: { record: RecordAnswer; level: RecordLevel }) {
  const rows = useMemo(() => recordDays(record, level), [record, level]);
  const name = LEVEL_NAMES[level].toLowerCase();
  const columns: GridColumn<RecordDay>[] = [
    column('date', 'day', 130, (date) => newYorkDay(date, true)),
    column('at', 'levels of', 150, newYorkMoment),
    column('spot', 'spot then', 86, price, true),
    { ...column('levels', name, 120, levelsText, true), id: 'level', value: ({ levels }) => levels[0]! },
    column('close', 'close', 86, price, true),
    ...OUTCOMES.map((outcome) => ({
      ...column('outcomes', outcome, 70, (outcomes) => yes(outcomes[outcome])),
      id: outcome,
      value: ({ outcomes }: RecordDay) => yes(outcomes[outcome]),
    })),
    column('spots', 'spots seen', 86, countText, true),
  ];
  return (
    <div class="record-days" data-days={level}>
      <p class="small">
        The days of: {name}. A press, or Enter, shows the levels of a day as they stood before its open.
      </p>
      <DataGrid
        label={`The days of: ${name}`}
        columns={columns}
        rows={rows}
        opensOnPress
        onOpen={({ at }) => navigate({ view: 'ticker', at, own: {} })}
      />
    </div>
  );
}

import { useMemo, useRef, useState } from 'preact/hooks';
import { expiryDay } from '../../chart/chart-axis.ts';
import { MEASURE_UNITS } from '../../chart/ladder.tsx';
import { MatrixChart } from '../../chart/matrix.tsx';
import { type MatrixPlace, matrixChange } from '../../chart/matrix-cells.ts';
import { matrixReadout, matrixTable } from '../../chart/matrix-text.ts';
import {
  expiryReadout,
  SeriesWithoutSmile,
  TermStructure,
  type TermStructureProps,
} from '../../chart/term-structure.tsx';
import { joinRows, seriesKeys } from '../../data/joined-rows.ts';
import { type Expiries, type Matrix, useAnswer } from '../../data/page-answers.ts';
import { DataGrid, gridTable } from '../../grid/data-grid.tsx';
import type { Call } from '../../operations.ts';
import { countText, newYorkMoment, signedAmount } from '../../page-format.ts';
import { ChartPanel, ViewState } from '../../panel/chart-panel.tsx';
import { MeasureChoice, OwnSelect } from '../../panel/choices.tsx';
import { navigate, page, tickerCall } from '../../state/page.ts';
import { asOf, comparedView, gexView } from '../../state/page-market.ts';
import { columnTable } from '../../state/panels.ts';
import { allExpiries, allOptions } from '../../state/scope.ts';
import { expiryColumns } from './expiry-columns.ts';

/** The ranges of strikes that the view offers, in percent of spot on each side. */
const BANDS = ['5', '10', '20', '50'];
const BAND = '10';

/** Renders the Expiries view: the matrix of strikes and expiries, the term structure, and a grid with one row per series. */
export function ExpiriesView() {
  const asked = gexView.asked.value;
  const { measure, options, pinned, isDiff } = page.value;
  const { expiries: chosen } = options;
  const others = allOptions.value;
  const moment = asOf.value;
  // The Expiries view shows all expiries even if the page analyses only some of them, so that the member can choose others.
  const all = allExpiries.value;
  const fresh = all.answer?.body;
  // While all expiries are loading, the previous expiries stay visible, so that the focus is not lost.
  const known = useRef<Expiries>(undefined);
  const { ticker } = asked.answer?.body.expiries ?? {};
  if (fresh) known.current = fresh;
  const expiries = known.current?.ticker === ticker ? known.current : undefined;
  const earlier = useAnswer<Expiries>(
    isDiff && pinned !== null ? tickerCall('get_gex_by_expiry', pinned, others) : undefined,
  );
  const before = comparedView.value && earlier.answer?.call.args.at === pinned ? earlier.answer?.body : undefined;
  const [at, setAt] = useState<number | null>(null);
  const cursor = at !== null && expiries && at < expiries.count ? at : null;
  const table = useMemo(() => expiries && columnTable(expiries), [expiries]);
  if (!asked.answer || (!expiries && !all.problem)) return <ViewState asked={asked} />;
  const pick = (expiry: string) => navigate({ options: { ...options, expiries: expiry === chosen ? '' : expiry } });
  const call = tickerCall('get_gex_by_expiry', moment, others);
  return (
    <div class="expiries-view fills-wide">
      <MatrixPanel measure={measure} chosen={chosen} others={others} moment={moment} onPick={pick} />
      <ChartPanel
        id="term"
        class="term-panel beside"
        title="Term structure"
        unit="by expiry"
        call={call}
        {...all}
        table={table}
        readout={
          expiries && cursor !== null
            ? expiryReadout(expiries, cursor, moment)
            : 'Point at an expiry, or use the arrow keys in the chart.'
        }
      >
        {expiries && (
          <>
            <TermStructure
              expiries={expiries}
              before={before}
              moment={moment}
              chosen={chosen}
              cursor={cursor}
              onCursor={setAt}
              onPick={pick}
            />
            <SeriesWithoutSmile
              series={expiries.smile_refused.flatMap((reason, i) =>
                reason === null
                  ? []
                  : [
                      [
                        `${expiryDay(expiries.expiry[i]!, moment)} ${expiries.root[i]} ${expiries.settlement[i]}`,
                        reason,
                      ],
                    ],
              )}
            />
          </>
        )}
      </ChartPanel>
      {expiries && <ExpiryGrid expiries={expiries} before={before} moment={moment} call={call} onPick={pick} />}
    </div>
  );
}

interface MatrixPanelProps extends Pick<TermStructureProps, 'moment' | 'chosen' | 'onPick'> {
  readonly measure: keyof typeof MEASURE_UNITS;
  readonly others: Readonly<Record<string, string>>;
}

function MatrixPanel({ measure, chosen, others, moment, onPick }: MatrixPanelProps) {
  const band = page.value.own.band ?? BAND;
  const call = tickerCall('get_gex_matrix', moment, { ...others, measure, band: Number(band) });
  const { answer, problem, isSlow } = useAnswer<Matrix>(moment === undefined ? undefined : call);
  const { pinned, isDiff } = page.value;
  const earlier = useAnswer<Matrix>(isDiff && answer ? { ...call, args: { ...call.args, at: pinned! } } : undefined);
  const before = isDiff ? earlier.answer?.body : undefined;
  const [place, setPlace] = useState<MatrixPlace | null>(null);
  const now = answer?.body;
  const isComparable = before && before.measure === now?.measure && before.band === now.band;
  const matrix = useMemo(() => (isComparable ? matrixChange(now!, before) : now), [now, before, isComparable]);
  // The matrix shows the previous measure until the new measure has loaded.
  const shown = (now?.measure ?? measure) as typeof measure;
  const unit = MEASURE_UNITS[shown];
  const title = `${isComparable ? 'Change of net' : 'Net'} ${shown}`;
  const cursor = matrix && place && place.column < matrix.series_count && place.row < matrix.count ? place : null;
  const table = useMemo(() => matrix && matrixTable(matrix), [matrix]);
  return (
    <ChartPanel
      id="matrix"
      class="matrix-panel"
      title={`${title} by strike × expiry`}
      unit={unit}
      call={call}
      answer={answer}
      problem={problem ?? earlier.problem}
      isSlow={isSlow}
      table={table}
      readout={
        matrix &&
        (cursor
          ? matrixReadout(matrix, cursor, moment)
          : `${isComparable ? `Change since ${newYorkMoment(pinned)}, of the series of both moments: ` : 'Sum '}within ±${matrix.band} % ${signedAmount(matrix.within_band)} · ${countText(matrix.strikes_left_out)} strikes outside ${signedAmount(matrix.left_out)}`)
      }
      controls={
        <>
          <MeasureChoice />
          <OwnSelect
            name="band"
            label="Band around spot"
            values={BANDS}
            initial={BAND}
            text={(value) => `±${value} %`}
          />
        </>
      }
    >
      {matrix && (
        <MatrixChart
          matrix={matrix}
          moment={moment}
          title={title}
          unit={unit}
          chosen={chosen}
          cursor={cursor}
          onCursor={setPlace}
          onPick={onPick}
        />
      )}
    </ChartPanel>
  );
}

interface ExpiryGridProps extends Pick<TermStructureProps, 'expiries' | 'before' | 'moment' | 'onPick'> {
  readonly call: Call;
}

function ExpiryGrid({ expiries, before, moment, call, onPick }: ExpiryGridProps) {
  // Series that no longer exist come first, because most of them have expired and therefore have the earliest expiries.
  const rows = useMemo(
    () =>
      joinRows(seriesKeys(expiries), before && seriesKeys(before)).toSorted(
        (a, b) => Number(a.now !== undefined) - Number(b.now !== undefined),
      ),
    [expiries, before],
  );
  const columns = useMemo(() => expiryColumns(expiries, before, moment), [expiries, before, moment]);
  const table = useMemo(() => gridTable(columns, rows), [columns, rows]);
  return (
    <ChartPanel
      id="expiries"
      class="grid-panel beside-wide"
      title="Expiries"
      unit={before ? 'changes against A' : 'Enter picks one for the page'}
      call={call}
      table={table}
    >
      <DataGrid
        label="Expiries"
        columns={columns}
        rows={rows}
        onOpen={({ now }) => now !== undefined && onPick(expiries.expiry[now]!)}
      />
    </ChartPanel>
  );
}

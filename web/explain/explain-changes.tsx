import { EXPLANATIONS, type ExplainedFigure } from '../data/figure-texts.ts';
import { type GexView, useAnswer } from '../data/page-answers.ts';
import { FigureTable } from '../grid/figure-table.tsx';
import { type Call, requestOf } from '../operations.ts';
import {
  amount,
  countText,
  differenceText,
  newYorkDay,
  newYorkMoment,
  percent,
  price,
  strikeText,
  UNKNOWN,
} from '../page-format.ts';
import { page } from '../state/page.ts';
import { moments } from '../state/time-stops.ts';
import type { ExplainSectionProps } from './explain-part.tsx';
import { figureValue, strikeRow } from './explained-figures.ts';
import { largestChanges, type NamedValues, valuesBySeries, valuesByStrike } from './snapshot-changes.ts';

const DRIVER_NAMES = {
  net_gex: 'Net GEX, $ per 1 %',
  call_gex: 'GEX of calls, $ per 1 %',
  put_gex: 'GEX of puts, $ per 1 %',
  open_interest: 'Open interest, contracts',
} as const;

const STRIKES = 5;
const SERIES = 3;

/** Renders the causes of a figure's change since the previous snapshot, and also since moment A if the member has pinned this moment. */
export function ExplainChanges(props: ExplainSectionProps) {
  const shownMs = Date.parse(props.snapshot.moment);
  const before = moments.value.findLast((each) => Date.parse(each) < shownMs);
  const { pinned } = page.value;
  const isPinned = pinned !== null && Date.parse(pinned) !== shownMs && pinned !== before;
  return (
    <>
      {before ? (
        <ChangesSince key={before} {...props} since={before} name="the snapshot before" />
      ) : (
        <p>No earlier snapshot of {props.snapshot.ticker} is stored.</p>
      )}
      {isPinned && <ChangesSince key={pinned} {...props} since={pinned} name="moment A" />}
    </>
  );
}

interface ChangesSinceProps extends ExplainSectionProps {
  readonly since: string;
  readonly name: string;
}

function ChangesSince({ figure, strike: at, snapshot: now, print, since, name, isVisible }: ChangesSinceProps) {
  const call: Call = { operation: 'get_gex_view', args: { ticker: now.ticker, ...now.options, at: since } };
  const { answer, problem } = useAnswer<GexView>(isVisible ? call : undefined);
  const title = (
    <h4>
      Since {name}, {newYorkMoment(since)}
    </h4>
  );
  // While an answer for other options is loading, the previous answer stays, so the call of the answer is compared with the current call.
  if (problem || !answer || requestOf(answer.call).path !== requestOf(call).path)
    return (
      <>
        {title}
        {problem && <p>{problem.message}</p>}
      </>
    );
  const was = answer.body;
  const { driver } = EXPLANATIONS[figure];
  const [before, after] = [was, now].map((view) => valueIn(view, figure, at)) as [number | null, number | null];
  const moved = percent(100 * (now.levels.spot_price / was.levels.spot_price - 1));
  const asRow = driver === 'open_interest' ? countText : amount;
  return (
    <div data-since={since}>
      {title}
      <p>
        Was {before === null ? UNKNOWN : print(before)}, now {after === null ? UNKNOWN : print(after)}
        {before !== null && after !== null && `, ${differenceText(after - before, print)}`}. Spot{' '}
        {price(was.levels.spot_price)} → {price(now.levels.spot_price)} ({moved}).
      </p>
      {at === null && (
        <>
          <ChangeTable
            title="Strike"
            unit={DRIVER_NAMES[driver]}
            before={valuesByStrike(was.strikes, driver)}
            now={valuesByStrike(now.strikes, driver)}
            most={STRIKES}
            print={asRow}
            nameOf={(each) => strikeText(Number(each))}
          />
          <ChangeTable
            title="Expiry"
            unit={driver === 'open_interest' ? DRIVER_NAMES.open_interest : DRIVER_NAMES.net_gex}
            before={valuesBySeries(was.expiries, driver)}
            now={valuesBySeries(now.expiries, driver)}
            most={SERIES}
            print={asRow}
            nameOf={(each) => seriesName(each, now.ticker)}
          />
        </>
      )}
    </div>
  );
}

interface ChangeTableProps {
  readonly title: string;
  readonly unit: string;
  readonly before: NamedValues;
  readonly now: NamedValues;
  readonly most: number;
  readonly print: (value: number) => string;
  readonly nameOf: (name: string) => string;
}

function ChangeTable({ title, unit, before, now, most, print, nameOf }: ChangeTableProps) {
  const { rows, sharePct, total } = largestChanges(before, now, most);
  if (rows.length === 0)
    return (
      <p>
        No {title.toLowerCase()} changed its {unit}.
      </p>
    );
  return (
    <FigureTable
      hasCaption
      label={`${unit}: ${differenceText(total, print)} in all. These ${rows.length} are ${percent(sharePct, 0, false)} of the changes.`}
      head={[title, 'was', 'now', 'change']}
      rows={rows.map((row) => [
        nameOf(row.name),
        row.was === null ? 'new' : print(row.was),
        row.now === null ? 'gone' : print(row.now),
        differenceText(row.change, print),
      ])}
    />
  );
}

function valueIn({ levels, strikes }: GexView, figure: ExplainedFigure, at: number | null): number | null {
  return at === null
    ? figureValue(figure, levels, levels.flip_resolved)
    : (strikeRow(strikes, levels.gross_gex_mil, at)?.net ?? null);
}

/** Returns the name of a series: its expiry, with the root if the root differs from the ticker. */
function seriesName(series: string, ticker: string): string {
  const [expiry, root] = series.split(' ');
  return `${newYorkDay(expiry, true).slice(4)}${root === ticker ? '' : ` ${root}`}`;
}

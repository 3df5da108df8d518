import { useRef } from 'preact/hooks';
import { ReadingDots } from '../chart/readings.tsx';
import { EXPLANATIONS } from '../data/figure-texts.ts';
import { type Asked, useAnswer, useRested } from '../data/page-answers.ts';
import { requestOf } from '../operations.ts';
import { newYorkDay, newYorkMoment, percent, volatility } from '../page-format.ts';
import { navigate, tickerCall } from '../state/page.ts';
import type { ExplainedSnapshot, ExplainSectionProps } from './explain-part.tsx';
import { dailyDeviation, figureValue, type LevelFields } from './explained-figures.ts';
import {
  FIRM_SHARE,
  type FigureReading,
  firmnessOf,
  isFlipUnresolved,
  type OtherReading,
  otherReadings,
} from './figure-readings.ts';

/**
 * Debounce delay in ms. The panel requests the analysis variants only if the snapshot has not changed for this time. While the member drags
 * the time strip, the panel sends no requests.
 */
const REST_MS = 300;

/** The values of one figure in all analysis variants, for one snapshot. */
interface ReadingSet {
  readonly key: string;
  readonly address: string;
  readonly snapshot: ExplainedSnapshot;
  readonly value: number | null;
  readonly others: readonly FigureReading[];
}

/** Below this share of open interest with a known side, in percent, the reading by signed flow is greyed. */
const FAINT_SHARE = 5;

/** Renders how much a figure depends on the analysis options. In each row after the first, one option differs from the page. */
export function ExplainFirmness({ figure, snapshot, print, isVisible }: ExplainSectionProps) {
  const { ticker, moment, options, levels } = snapshot;
  const readings = otherReadings(options);
  const calls = readings.map((each) => tickerCall('get_live_gex_nodes', moment, each.options, ticker));
  const address = calls.map((call) => requestOf(call).path).join();
  const isRested = useRested(address, address, REST_MS) === address && isVisible;
  const isRefused = (reading: OtherReading) => reading.options.sign === 'flow' && levels.by_flow === null;
  // The number of analysis variants is constant, so the hooks run in the same order in every render.
  const asked = calls.map((call, i) => useAnswer<LevelFields>(isRested && !isRefused(readings[i]!) ? call : undefined));
  const others = readings.map((reading, i): FigureReading | undefined => {
    const { answer, problem }: Asked<LevelFields> = asked[i]!;
    if (isRefused(reading)) return { ...reading, value: null, refusal: 'no print signs this chain' };
    if (problem) return { ...reading, value: null, refusal: problem.message };
    // `useAnswer` returns the old answer until the new answer arrives. The component must not compare values of two moments.
    if (!answer || requestOf(answer.call).path !== requestOf(calls[i]!).path) return undefined;
    return { ...reading, value: figureValue(figure, answer.body, !isFlipUnresolved(answer.notes)), refusal: '' };
  });
  const last = useRef<ReadingSet>(undefined);
  const key = `${ticker} ${figure}`;
  if (others.every((each) => each !== undefined)) {
    last.current = { key, address, snapshot, others, value: figureValue(figure, levels, levels.flip_resolved) };
  }
  const set = last.current?.key === key ? last.current : undefined;
  if (!set) return <p class="muted">Asking for the other readings…</p>;
  const deviation = dailyDeviation(set.snapshot.levels);
  const isPrice = EXPLANATIONS[figure].kind === 'price';
  const { isFirm, text } = firmnessOf(EXPLANATIONS[figure].kind, set.value, set.others, deviation?.dollars, print);
  const room = FIRM_SHARE * (deviation?.dollars ?? 0);
  const share = set.snapshot.levels.by_flow?.signed_share_pct;
  const isFaint = ({ name }: FigureReading) => name === 'signed flow' && share !== undefined && share < FAINT_SHARE;
  const dotOf = (each: FigureReading) => ({
    id: each.option,
    name: each.name,
    note: noteOf(each),
    value: each.value,
    isFaint: isFaint(each),
    onChoose: each.refusal ? null : () => navigate({ options: each.options }),
  });
  const band: readonly [number, number] | undefined =
    isPrice && set.value !== null && deviation ? [set.value - room, set.value + room] : undefined;
  const noteOf = ({ name, refusal, value }: FigureReading) =>
    refusal ||
    (value === null ? 'does not resolve it' : '') ||
    (name === 'signed flow' && share !== undefined
      ? `side known of ${percent(share, share < 1 ? 2 : 0, false)} of open interest`
      : '');
  return (
    <>
      <p class="verdict" data-firm={isFirm ?? 'unknown'}>
        <span aria-hidden="true">{isFirm ? '●' : isFirm === null ? '◌' : '◐'}</span> {text}
      </p>
      <ReadingDots
        print={print}
        isSigned={!isPrice}
        band={band}
        dots={[
          { id: 'page', name: 'as the page', note: '', value: set.value, onChoose: undefined },
          ...set.others.filter(({ isOtherQuestion }) => !isOtherQuestion).map(dotOf),
        ]}
      />
      <h4>Another question, without a verdict</h4>
      <ReadingDots
        id="questions"
        print={print}
        isSigned={!isPrice}
        band={band}
        dots={set.others.filter(({ isOtherQuestion }) => isOtherQuestion).map(dotOf)}
      />
      <p class="muted">
        {isPrice && deviation
          ? `Shaded: a quarter of a day's move to either side, by ${volatility(deviation.iv)} at the money of ${newYorkDay(deviation.expiry)}. `
          : ''}
        Press a reading to make it the page's.
        {set.address === address ? '' : ` Asking again: these are of ${newYorkMoment(set.snapshot.moment)}.`}
      </p>
    </>
  );
}

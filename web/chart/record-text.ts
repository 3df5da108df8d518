import type { RecordAnswer } from '../data/page-answers.ts';
import { newYorkDay, percent, plain } from '../page-format.ts';
import type { PanelTable } from '../state/panels.ts';

/** The levels of the track record, ordered by price. The band is the price range from the put wall to the call wall. */
export const RECORD_LEVELS = ['call_wall', 'put_wall', 'band', 'flip'] as const;
export type RecordLevel = (typeof RECORD_LEVELS)[number];

/** The possible outcomes of a level on a day. The names claim no more than what the stored spots show. */
export const OUTCOMES = ['held', 'touched', 'crossed'] as const;
export type RecordOutcome = (typeof OUTCOMES)[number];

export const LEVEL_NAMES: Readonly<Record<RecordLevel, string>> = {
  call_wall: 'Call wall',
  put_wall: 'Put wall',
  band: 'Between the walls',
  flip: 'Flip',
};

export const OUTCOME_NOTES: Readonly<Record<RecordOutcome, string>> = {
  held: 'the close was not beyond it',
  touched: 'a spot seen was within a tenth of a daily deviation',
  crossed: 'a spot seen was beyond it',
};

const whole = (value: number | null) => percent(value, 0, false);

/** Returns three texts: the share of days with an outcome, the confidence interval of this share, and the share for the control level. */
export function rateText({ pct, low_pct, high_pct, control_pct }: RecordAnswer['flip']['held']) {
  return {
    share: whole(pct),
    interval: `${percent(low_pct, 0, false).replace(' %', '')} to ${whole(high_pct)}`,
    control: whole(control_pct),
  };
}

/** Returns a sentence with the share of days for each outcome of a level. The sentence also states the shares for the control level. */
export function recordSentence(record: RecordAnswer, level: RecordLevel): string {
  const score = record[level];
  const days = `${score.n} ${score.n === 1 ? 'day' : 'days'}`;
  if (score.too_few_days) {
    const seen = OUTCOMES.map((outcome) => `${outcome} on ${score[outcome].count}`).join(', ');
    return `${days}: ${seen}. Percentages need 20 days.`;
  }
  const rates = OUTCOMES.map((outcome) => {
    const { share, interval, control } = rateText(score[outcome]);
    return `${outcome} on ${share} (95 % interval ${interval}), at the same distance ${control}`;
  });
  return `${LEVEL_NAMES[level]}, ${days}: ${rates.join('; ')}. Verdict: ${score.verdict}.`;
}

/** Returns a text with the number of trading days in the record, the average number of spots per day, and the number of days left out. */
export function recordScope({ count, days, spots_per_day, left_out }: RecordAnswer): string {
  const missing = Object.entries(left_out)
    .filter(([, n]) => n > 0)
    .map(([reason, n]) => `${n} with ${reason.replace('_', ' ')}`);
  const without = missing.length > 0 ? ` · left out: ${missing.join(', ')}` : '';
  if (count === 0) return `No trading day is counted${without}`;
  const day = (date: string | undefined) => newYorkDay(date, true);
  return (
    `${count} trading days, ${day(days.date[0])} to ${day(days.date.at(-1))} · ` +
    `${plain(spots_per_day, 2)} spots seen a day, and not what the price did between them${without}`
  );
}

/** A day of the track record with a level and its outcomes. */
export interface RecordDay {
  readonly date: string;
  /** The moment of the snapshot that gave the level, ISO 8601. */
  readonly at: string;
  readonly spot: number;
  /** The price of the level. The level `band` has two prices, the prices of both walls. */
  readonly levels: readonly number[];
  readonly close: number;
  readonly spots: number;
  readonly outcomes: Readonly<Record<RecordOutcome, boolean>>;
}

/** Returns the days on which a level exists, newest first. */
export function recordDays({ days }: RecordAnswer, level: RecordLevel): RecordDay[] {
  const rows = days.date.flatMap((date, i): RecordDay[] => {
    const seen = (outcome: RecordOutcome) => days[`${level}_${outcome}`][i] ?? null;
    const [held, touched, crossed] = OUTCOMES.map(seen);
    if (typeof held !== 'boolean' || typeof touched !== 'boolean' || typeof crossed !== 'boolean') return [];
    const prices = {
      call_wall: [days.call_wall[i]!],
      put_wall: [days.put_wall[i]!],
      band: [days.put_wall[i]!, days.call_wall[i]!],
      flip: [days.gex_flip[i]!],
    };
    return [
      {
        date,
        at: days.at[i]!,
        spot: days.spot[i]!,
        levels: prices[level],
        close: days.close[i]!,
        spots: days.spots[i]!,
        outcomes: { held, touched, crossed },
      },
    ];
  });
  return rows.reverse();
}

/** Returns the track record as a table. Each pair of a level and an outcome has one row. */
export function recordTable(record: RecordAnswer): PanelTable {
  return {
    columns: ['level', 'outcome', 'days', 'count', 'pct', 'low_pct', 'high_pct', 'control_pct', 'verdict'],
    rows: RECORD_LEVELS.flatMap((level) =>
      OUTCOMES.map((outcome) => {
        const { n, verdict } = record[level];
        const { count, pct, low_pct, high_pct, control_pct } = record[level][outcome];
        return [level, outcome, n, count, pct, low_pct, high_pct, control_pct, outcome === 'held' ? verdict : null];
      }),
    ),
  };
}

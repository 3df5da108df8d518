import { cleanText } from '../../page-format.ts';
import { type DayFigures, flipAway } from '../../state/watched-tickers.ts';

/** A ticker with its themes. The figures are undefined if the ticker has no data. */
export interface FilteredRow {
  readonly ticker: string;
  readonly theme: string;
  readonly figures: DayFigures | undefined;
}

interface Condition {
  /** What the condition asks for, in words. */
  readonly meaning: string;
  matches(row: FilteredRow): boolean;
}

/** The figures that a filter can compare with a number: the name in words, the unit, and the value. */
const FIGURES = new Map<string, readonly [name: string, unit: string, value: (figures: DayFigures) => number | null]>([
  ['chg', ['change on the day', ' %', ({ change_pct }) => change_pct]],
  ['flip', ['distance of the flip', ' %', (figures) => sized(flipAway(figures))]],
  ['iv', ['IV rank', '', ({ iv_rank }) => iv_rank]],
  [
    'move',
    [
      'expected move of a day',
      ' %',
      ({ daily_move, spot }) => (daily_move === null ? null : (100 * daily_move) / spot),
    ],
  ],
  ['net', ['net GEX', ' $', ({ net_gex }) => net_gex]],
  ['margin', ['sign margin', ' %', ({ sign_margin_pct }) => sign_margin_pct]],
  ['spot', ['spot', ' $', ({ spot }) => spot]],
]);
const sized = (value: number | null) => (value === null ? null : Math.abs(value));

const REGIMES = ['positive', 'negative', 'undetermined'];
const FACTORS = ['', 'k', 'm', 'b'];

/** The conditions that the filter understands, for the page. */
export const FILTER_HELP = `${[...FIGURES.keys()].join(', ')} with < <= > >= and a number; regime:pos, neg or und; words of ticker or theme`;

/**
 * Parses a filter, such as `regime:neg flip<2% iv>50 tech`. All conditions must hold. A ticker whose figure is unknown meets no condition on
 * this figure. `refused` are the conditions that are not understood: they select nothing and hide nothing.
 */
export function tickerFilter(text: string): Condition & { readonly refused: readonly string[] } {
  const words = text
    .toLowerCase()
    .replace(/\s*([<>]=?|:)\s*/g, '$1')
    .replace(/(\d)\s+%/g, '$1%')
    .split(/[\s,]+/)
    .filter(Boolean);
  const read = words.map((word) => [word, conditionOf(word)] as const);
  const conditions = read.flatMap(([, condition]) => condition ?? []);
  return {
    matches: (row) => conditions.every((each) => each.matches(row)),
    meaning: conditions.map(({ meaning }) => meaning).join(', '),
    refused: read.filter(([, condition]) => !condition).map(([word]) => word),
  };
}

function conditionOf(word: string): Condition | undefined {
  const [, name, operator, number, factor] = /^(\w+)([<>]=?)([+−-]?[\d.]+)([kmb]?)[%$]?$/.exec(word) ?? [];
  const figure = FIGURES.get(name ?? '');
  const bound = Number(number?.replace('−', '-')) * 1000 ** FACTORS.indexOf(factor ?? '');
  if (figure && Number.isFinite(bound)) {
    const [label, unit, value] = figure;
    const holds = (known: number) =>
      (operator!.endsWith('=') && known === bound) || (operator!.startsWith('<') ? known < bound : known > bound);
    return {
      meaning: `${label} ${operator} ${number}${factor}${unit}`,
      matches({ figures }) {
        const known = figures ? value(figures) : null;
        return known !== null && holds(known);
      },
    };
  }
  const regime = /^regime:([a-z]{3,})$/.exec(word)?.[1];
  const named = regime && REGIMES.find((each) => each.startsWith(regime));
  if (named)
    return { meaning: `gamma ${named}`, matches: ({ figures }) => cleanText(figures?.regime).startsWith(named) };
  if (/[<>:=]/.test(word)) return undefined;
  return { meaning: `“${word}”`, matches: ({ ticker, theme }) => `${ticker} ${theme}`.toLowerCase().includes(word) };
}

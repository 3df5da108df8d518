import { percent } from '../../page-format.ts';
import type { DayFigures } from '../../state/watched-tickers.ts';

/** A ticker of the universe with its themes. The figures are undefined if the ticker has no data. */
export interface FilteredRow {
  readonly ticker: string;
  readonly theme: string;
  readonly figures: DayFigures | undefined;
}

export interface TickerFilter {
  matches(row: FilteredRow): boolean;
  /** What the filter asks for, in words. Empty if the text asks for nothing. */
  readonly meaning: string;
  /** The conditions that are not understood. They select nothing and hide nothing. */
  readonly refused: readonly string[];
}

type Value = (figures: DayFigures) => number | null;
const share = (part: number | null, { spot }: DayFigures) => (part === null ? null : (100 * part) / spot);

/** The figures that a filter can compare with a number: the name in words, the unit, and the value. */
const FIGURES: Readonly<Record<string, readonly [name: string, unit: string, value: Value]>> = {
  chg: ['change on the day', ' %', ({ change }) => change],
  flip: ['distance of the flip', ' %', ({ flipAway }) => (flipAway === null ? null : Math.abs(flipAway))],
  iv: ['IV rank', '', ({ ivRank }) => ivRank],
  move: ['expected move of a day', ' %', (figures) => share(figures.move, figures)],
  net: ['net GEX', ' $', ({ netGex }) => netGex],
  margin: ['sign margin', ' %', ({ signMargin }) => signMargin],
  spot: ['spot', ' $', ({ spot }) => spot],
};

const COMPARISONS: Readonly<Record<string, readonly [words: string, holds: (a: number, b: number) => boolean]>> = {
  '<': ['below', (a, b) => a < b],
  '<=': ['at most', (a, b) => a <= b],
  '>': ['above', (a, b) => a > b],
  '>=': ['at least', (a, b) => a >= b],
};

const REGIMES = ['positive', 'negative', 'undetermined'];
const FACTORS: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, b: 1e9 };

/** The conditions that the filter understands, for the page. */
export const FILTER_HELP = `${Object.keys(FIGURES).join(', ')} with < <= > >= and a number; regime:pos, neg or und; words of ticker or theme`;

interface Condition {
  readonly meaning: string;
  isMetBy(row: FilteredRow): boolean;
}

/**
 * Parses a filter, such as `regime:neg flip<2% iv>50 tech`. All conditions must hold. A ticker whose figure is unknown meets no condition on
 * this figure.
 */
export function tickerFilter(text: string): TickerFilter {
  const words = text
    .toLowerCase()
    .replace(/\s*([<>]=?|:)\s*/g, '$1')
    .replace(/(\d)\s+%/g, '$1%')
    .split(/[\s,]+/)
    .filter(Boolean);
  const read = words.map((word) => [word, conditionOf(word)] as const);
  const conditions = read.flatMap(([, condition]) => condition ?? []);
  return {
    matches: (row) => conditions.every(({ isMetBy }) => isMetBy(row)),
    meaning: conditions.map(({ meaning }) => meaning).join(', '),
    refused: read.filter(([, condition]) => !condition).map(([word]) => word),
  };
}

function conditionOf(word: string): Condition | undefined {
  const [, name, operator, number, factor] = /^(\w+)([<>]=?)([+−-]?[\d.]+)([kmb]?)(?:%|\$)?$/.exec(word) ?? [];
  const figure = name !== undefined && Object.hasOwn(FIGURES, name) ? FIGURES[name] : undefined;
  const comparison = COMPARISONS[operator ?? ''];
  const bound = Number(number?.replace('−', '-')) * FACTORS[factor ?? '']!;
  if (figure && comparison && Number.isFinite(bound)) {
    const [[label, unit, value], [words, holds]] = [figure, comparison];
    const isMetBy = ({ figures }: FilteredRow) => {
      const known = figures ? value(figures) : null;
      return known !== null && holds(known, bound);
    };
    const shown = unit === ' %' ? percent(bound, 2, false).replace(/\.?0+ /, ' ') : `${number}${factor}${unit}`;
    return { meaning: `${label} ${words} ${shown}`, isMetBy };
  }
  const regime = /^regime:([a-z]{3,})$/.exec(word)?.[1];
  const named = regime && REGIMES.find((each) => each.startsWith(regime));
  if (named) return { meaning: `gamma ${named}`, isMetBy: ({ figures }) => figures?.regime === named };
  if (/[<>:=]/.test(word)) return undefined;
  return {
    meaning: `“${word}”`,
    isMetBy: ({ ticker, theme }) => `${ticker} ${theme}`.toLowerCase().includes(word),
  };
}

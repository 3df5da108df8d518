import type { Explanation } from '../data/figure-texts.ts';
import { price } from '../page-format.ts';
import { type ChosenOptions, OPTION_VALUES, type OptionName } from '../state/address.ts';

/** A variant of the page's analysis (a reading), in which exactly one option differs from the page. */
export interface OtherReading {
  readonly option: OptionName;
  readonly name: string;
  readonly options: ChosenOptions;
  /**
   * True if the variant asks another question: whom the contracts belong to, or how many traded on the day. Such a variant says nothing on
   * whether the method makes the figure firm.
   */
  readonly isOtherQuestion: boolean;
}

/** The options that ask another question. */
const QUESTIONS: ReadonlySet<OptionName> = new Set(['weight', 'sign']);

/** The options that the analysis variants change. Each option has a name for its default value, and another value with its own name. */
const CHOICES: readonly (readonly [option: OptionName, standard: string, value: string, other: string])[] = [
  ['forward', 'parity forwards', 'flat', 'flat forwards'],
  ['gamma', 'recomputed gamma', 'feed', 'feed gamma'],
  ['iv', 'quote volatility', 'feed', 'feed volatility'],
  ['smile_dynamics', 'sticky strike', 'sticky_moneyness', 'sticky moneyness'],
  ['weight', 'open-interest weight', 'volume', 'volume weight'],
  ['sign', 'convention', 'flow', 'signed flow'],
];

/**
 * Returns the analysis variants that differ from the page in exactly one option. If the page uses the default value of the option, the
 * variant uses the other value. Otherwise the variant uses the default value.
 */
export function otherReadings(options: ChosenOptions): OtherReading[] {
  return CHOICES.map(([option, standard, value, other]) => {
    const { [option]: chosen, ...rest } = options;
    const isDefault = chosen === undefined || chosen === OPTION_VALUES[option][0];
    const isOtherQuestion = QUESTIONS.has(option);
    return isDefault
      ? { option, isOtherQuestion, name: other, options: { ...rest, [option]: value } }
      : { option, isOtherQuestion, name: standard, options: rest };
  });
}

/** Returns whether the notes report an unresolved flip. The default answer of the levels has no field for an unresolved flip. */
export function isFlipUnresolved(notes: string): boolean {
  return /Net gamma has one sign within|The flip is outside the quoted strikes/.test(notes);
}

/** A figure in one analysis variant. The value is null if the flip is unresolved, or if the server refuses the variant (`refusal`). */
export interface FigureReading extends OtherReading {
  readonly value: number | null;
  readonly refusal: string;
}

/** Upper limit for the spread of a firm level's values over all analysis variants, as a share of a day's move. */
export const FIRM_SHARE = 0.25;

/**
 * Compares a figure on the page with its values in the variants of the method. Variants that ask another question do not count, nor do those
 * that the server refuses. A price is firm if it has a value in all variants, and the values differ by less than a quarter of `dayMove`. An
 * amount is firm if it has the same sign in all variants. A firm figure depends little on the options. `isFirm` is null if the data is
 * insufficient to decide. The function `print` formats a value of the figure.
 */
export function firmnessOf(
  kind: Explanation['kind'],
  value: number | null,
  others: readonly FigureReading[],
  dayMove: number | undefined,
  print: (value: number) => string,
): { isFirm: boolean | null; text: string } {
  const answered = others.filter(({ refusal, isOtherQuestion }) => refusal === '' && !isOtherQuestion);
  const known = answered.filter((each): each is FigureReading & { value: number } => each.value !== null);
  const names = (all: readonly FigureReading[]) => all.map(({ name }) => name).join(', ');
  if (value === null) {
    const found = known.map((each) => `${each.name} ${print(each.value)}`).join(', ');
    return {
      isFirm: known.length === 0 ? true : null,
      text:
        known.length === 0 ? 'Firm: no reading resolves it.' : `Unresolved on this page, but not everywhere: ${found}.`,
    };
  }
  const lost = answered.filter((each) => each.value === null);
  const most = known.reduce<(typeof known)[number] | undefined>(
    (best, each) => (!best || Math.abs(each.value - value) > Math.abs(best.value - value) ? each : best),
    undefined,
  );
  const unresolved = lost.length > 0 ? ` Unresolved: ${names(lost)}.` : '';
  if (!most) return { isFirm: null, text: `No other reading has a value.${unresolved}` };
  const moved = `Largest difference: ${most.name}, ${print(most.value)}`;
  if (kind === 'signed') {
    const turned = known.filter((each) => Math.sign(each.value) !== Math.sign(value));
    const sign = value > 0 ? 'positive' : value < 0 ? 'negative' : '0';
    return turned.length === 0
      ? { isFirm: true, text: `Firm in sign: all ${known.length + 1} readings are ${sign}. ${moved}.` }
      : { isFirm: false, text: `Not firm in sign: ${names(turned)}. ${moved}.${unresolved}` };
  }
  const spreadOf = (all: readonly { readonly value: number }[]) =>
    Math.max(value, ...all.map((each) => each.value)) - Math.min(value, ...all.map((each) => each.value));
  const spread = spreadOf(known);
  if (dayMove === undefined)
    return {
      isFirm: null,
      text: `The spread is ${price(spread)}. No volatility at the money is known to judge it by. ${moved}.`,
    };
  const days = (size: number) =>
    `${price(size)}, ${(size / dayMove).toFixed(size < dayMove / 10 ? 2 : 1)} × a day's move`;
  if (spread < FIRM_SHARE * dayMove && lost.length === 0)
    return {
      isFirm: true,
      text: `Firm: the spread of ${known.length + 1} readings is ${days(spread)} (${price(dayMove)}).`,
    };
  const rest = spreadOf(known.filter((each) => each !== most));
  return {
    isFirm: false,
    text: `Not firm: the spread is ${days(spread)} (${price(dayMove)}). ${moved}; without it ${rest === 0 ? 'no spread' : days(rest)}.${unresolved}`,
  };
}

import { price } from '../page-format.ts';
import { type ChosenOptions, OPTION_VALUES, type OptionName } from '../state/address.ts';
import type { Explanation } from './explained-figures.ts';

/** A reading of the chain: an analysis in which one option differs from the page. */
export interface OtherReading {
  readonly option: OptionName;
  readonly name: string;
  readonly options: ChosenOptions;
}

/** The options that the readings change. Each option has a name for the default value, and another value with a name. */
const CHOICES: readonly (readonly [option: OptionName, standard: string, value: string, other: string])[] = [
  ['forward', 'parity forwards', 'flat', 'flat forwards'],
  ['gamma', 'recomputed gamma', 'feed', 'feed gamma'],
  ['iv', 'quote volatility', 'feed', 'feed volatility'],
  ['weight', 'open-interest weight', 'volume', 'volume weight'],
  ['sign', 'convention', 'flow', 'signed flow'],
];

/**
 * Returns the readings that differ from the page in exactly one option. If the page uses the default value, the reading uses the other
 * value. Otherwise the reading uses the default value.
 */
export function otherReadings(options: ChosenOptions): OtherReading[] {
  return CHOICES.map(([option, standard, value, other]) => {
    const { [option]: chosen, ...rest } = options;
    const isDefault = chosen === undefined || chosen === OPTION_VALUES[option][0];
    return isDefault
      ? { option, name: other, options: { ...rest, [option]: value } }
      : { option, name: standard, options: rest };
  });
}

/** Returns whether the notes report an unresolved flip. The default answer of the levels has no field for an unresolved flip. */
export function isFlipUnresolved(notes: string): boolean {
  return notes.includes('Net gamma has one sign within');
}

/** A figure under one reading. The value is null if the flip is unresolved, or if the server refuses the reading (`refusal`). */
export interface FigureReading extends OtherReading {
  readonly value: number | null;
  readonly refusal: string;
}

/** A verdict on how much a figure depends on the options. The field `isFirm` is null if the data does not allow a verdict. */
export interface Firmness {
  readonly isFirm: boolean | null;
  readonly text: string;
}

/** Maximum spread between the readings of a firm level, as a share of a day's move. */
export const FIRM_SHARE = 0.25;

/**
 * Compares a figure between the page and the other readings. A price is firm if all readings have a value, and the values differ by less
 * than a quarter of `dayMove`. An amount is firm if it has the same sign under all readings. If the server refuses a reading, the reading
 * does not count. The function `print` formats a value of the figure.
 */
export function firmnessOf(
  kind: Explanation['kind'],
  value: number | null,
  others: readonly FigureReading[],
  dayMove: number | undefined,
  print: (value: number) => string,
): Firmness {
  const answered = others.filter(({ refusal }) => refusal === '');
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

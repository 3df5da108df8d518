import { type ChosenOptions, OPTION_VALUES, type OptionName } from './address.ts';
import type { Explanation } from './explained-figures.ts';

/** The same analysis with one choice made otherwise. */
export interface OtherReading {
  readonly option: OptionName;
  readonly name: string;
  readonly options: ChosenOptions;
}

/** The choices that readings vary: the name of the default, and the other value with its name. */
const CHOICES: readonly (readonly [option: OptionName, standard: string, value: string, other: string])[] = [
  ['forward', 'parity forwards', 'flat', 'flat forwards'],
  ['gamma', 'recomputed gamma', 'feed', 'feed gamma'],
  ['iv', 'quote volatility', 'feed', 'feed volatility'],
  ['weight', 'open-interest weight', 'volume', 'volume weight'],
  ['sign', 'convention', 'flow', 'signed flow'],
];

/** Returns the readings beside that of the page: each makes one choice otherwise. A choice that is not the default goes back to it. */
export function otherReadings(options: ChosenOptions): OtherReading[] {
  return CHOICES.map(([option, standard, value, other]) => {
    const { [option]: chosen, ...rest } = options;
    const isDefault = chosen === undefined || chosen === OPTION_VALUES[option][0];
    return isDefault
      ? { option, name: other, options: { ...rest, [option]: value } }
      : { option, name: standard, options: rest };
  });
}

/** Returns whether the notes of an answer say that its flip is not resolved. The default answer of the levels has no field for it. */
export function isFlipUnresolved(notes: string): boolean {
  return notes.includes('Net gamma has one sign within');
}

/** A figure under one reading. Null: unresolved, or refused for the reason in `refusal`. */
export interface FigureReading extends OtherReading {
  readonly value: number | null;
  readonly refusal: string;
}

/** A verdict on how much a figure depends on choices. `isFirm` is null if it cannot be said. */
export interface Firmness {
  readonly isFirm: boolean | null;
  readonly text: string;
}

/** A level is firm if all readings lie within this part of a day's move. */
export const FIRM_SHARE = 0.25;

/**
 * Compares the figure of the page with the other readings. A price is firm if all lie within a quarter of `dayMove`, an amount if all have
 * one sign. Readings that the server refuses do not count. `print` prints a value with its sign where that matters.
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
  const all = [value, ...known.map((each) => each.value)];
  const spread = Math.max(...all) - Math.min(...all);
  if (dayMove === undefined) {
    return {
      isFirm: null,
      text: `${moved}. No volatility at the money is known to judge the spread of ${print(spread)}.`,
    };
  }
  const share = spread / dayMove;
  const ofDay = `${share < 0.1 ? share.toFixed(2) : share.toFixed(1)} of a day's move (${print(dayMove)})`;
  return share < FIRM_SHARE && lost.length === 0
    ? { isFirm: true, text: `Firm: all ${all.length} readings lie within ${print(spread)}, ${ofDay}.` }
    : { isFirm: false, text: `Not firm: the spread is ${print(spread)}, ${ofDay}. ${moved}.${unresolved}` };
}

import { OperatorError } from '../core/errors.ts';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns the parser of a flag for a duration such as `90s`, `1h` or `7d`, in ms. The parser throws `OperatorError` for any other text. */
export function durationOf(flag: string): (text: string) => number {
  return (text) => {
    const [, number, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
    if (number !== undefined) return Number(number) * UNIT_MS[unit!]!;
    throw new OperatorError(`${flag} "${text}" is not a time`, `Use e.g. ${flag} 1h or ${flag} 1d.`);
  };
}

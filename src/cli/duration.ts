import { durationMs } from '../core/duration-text.ts';
import { OperatorError } from '../core/errors.ts';

/** Returns the parser of a flag for a duration such as `90s`, `1h` or `7d`, in ms. The parser throws `OperatorError` for any other text. */
export function durationOf(flag: string): (text: string) => number {
  return (text) => {
    const ms = durationMs(text);
    if (ms !== undefined) return ms;
    throw new OperatorError(`${flag} "${text}" is not a time`, `Use e.g. ${flag} 1h or ${flag} 1d.`);
  };
}

import type { Style } from './line.ts';

/** The properties of an output stream that a plot needs. A `tty.WriteStream` has all of them, and a pipe has none. */
export interface Output {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

export interface Terminal {
  readonly width: number;
  readonly height: number;
  readonly style: Style;
}

const WIDTH = 80;
const HEIGHT = 24;

/** Returns the size and the style for an output, from the stream and the environment variables. */
export function terminalOf(
  { isTTY, columns, rows }: Output,
  env: Readonly<Record<string, string | undefined>>,
): Terminal {
  const dumb = env.TERM === 'dumb';
  // POSIX: the first of these variables that is set and not empty gives the locale. If all are empty, the locale is plain ASCII.
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return {
    width: columns || WIDTH,
    height: rows || HEIGHT,
    style: {
      unicode: !dumb && /utf-?8/i.test(locale),
      // no-color.org: NO_COLOR counts if it is set and not empty.
      colour: Boolean(isTTY && env.TERM && !dumb && !env.NO_COLOR),
    },
  };
}

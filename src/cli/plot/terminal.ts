import type { Style } from './line.ts';

/** What is known of the stream that is drawn on: a `tty.WriteStream` has it all, a pipe nothing. */
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

/** How to draw on an output, in this environment. */
export function terminalOf(
  { isTTY, columns, rows }: Output,
  env: Readonly<Record<string, string | undefined>>,
): Terminal {
  const dumb = env.TERM === 'dumb';
  // POSIX: the first of them that is set and not empty decides; without any, the locale is plain ASCII.
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return {
    width: columns || WIDTH,
    height: rows || HEIGHT,
    style: {
      unicode: !dumb && /utf-?8/i.test(locale),
      // no-color.org: set and not empty.
      colour: Boolean(isTTY && env.TERM && !dumb && !env.NO_COLOR),
    },
  };
}

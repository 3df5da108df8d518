import { shownJson } from '../core/clean-text.ts';
import { OperatorError } from '../core/errors.ts';
import { writeOut } from './csv/streams.ts';
import type { Style } from './plot/line.ts';

interface FormFlags {
  readonly json?: true;
  /** The value of `--csv`: the name of a table, or `true` if the flag has no value. */
  readonly csv?: string | true;
  /** By default, the plot is drawn only if stdout is a terminal. */
  readonly plot?: boolean;
}

interface ResultForms {
  readonly value: unknown;
  readonly isSimulated: boolean;
  /** Returns the result as CSV, which does not mark simulated data. */
  csv(): string;
  readonly text: string;
  /** Text that is printed instead if no plot is drawn. */
  readonly details?: string;
  /** Draws the plot. Undefined if the result cannot be plotted. */
  readonly plot?: ((width: number, height: number, style: Style) => readonly string[]) | undefined;
  /** Minimum and maximum height of the plot, lines. The plot fills the screen lines that the text leaves free. */
  readonly plotLines: { readonly least: number; readonly most: number };
}

/** Throws `OperatorError` if the flags choose several formats. */
export function requireOneForm(flags: FormFlags): void {
  const forms = (['json', 'csv', 'plot'] as const).filter((form) => flags[form]).map((form) => `--${form}`);
  if (forms.length > 1) throw new OperatorError(`${forms.join(' and ')} exclude each other`, 'Choose one.');
}

/** Prints a result in the format that the flags choose. */
export async function writeResult({ json, csv, plot }: FormFlags, result: ResultForms): Promise<void> {
  if (csv && result.isSimulated) process.stderr.write('zomma: these figures are SIMULATED\n');
  if (json) await writeOut(`${shownJson(result.value)}\n`);
  else await writeOut(csv ? result.csv() : textOf(result, plot ?? process.stdout.isTTY));
}

function textOf({ text, details = '', plot, plotLines: { least, most } }: ResultForms, isPlotted: boolean): string {
  if (!plot || !isPlotted) return `${text}${details}`;
  const { width, height, style } = terminalOf(process.stdout, process.env);
  const room = height - text.split('\n').length - 1;
  return `${text}\n${plot(width, Math.min(most, Math.max(least, room)), style).join('\n')}\n`;
}

/** The properties of an output stream that a plot needs. A `tty.WriteStream` has these properties, but a pipe does not. */
export interface Output {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

const WIDTH = 80;
const HEIGHT = 24;

/** Returns the size and the style for an output, from the stream and the environment variables. */
export function terminalOf({ isTTY, columns, rows }: Output, env: Readonly<Record<string, string | undefined>>) {
  const dumb = env.TERM === 'dumb';
  // As in POSIX, the first nonempty variable of LC_ALL, LC_CTYPE and LANG sets the locale. If all three are empty, the locale is ASCII.
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return {
    width: columns || WIDTH,
    height: rows || HEIGHT,
    style: {
      unicode: !dumb && /utf-?8/i.test(locale),
      // According to no-color.org, an empty NO_COLOR has no effect.
      colour: Boolean(isTTY && env.TERM && !dumb && !env.NO_COLOR),
    },
  };
}

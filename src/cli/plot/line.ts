/** The characters and colours that a terminal can show. */
export interface Style {
  /** True if the terminal shows block, box and braille characters. If false, plots consist of ASCII characters. */
  readonly unicode: boolean;
  readonly colour: boolean;
}

/** The role of a text, which determines its colour. On a terminal without colours, the position or the words show the role. */
export type Ink = 'title' | 'positive' | 'negative' | 'level' | 'faint';

export interface Span {
  readonly text: string;
  readonly ink?: Ink | undefined;
}

/** A price with a name, such as spot, a wall or the flip. */
export interface Level {
  readonly name: string;
  readonly price: number;
}

/** SGR codes: escape sequences for colours and weights. Only basic colours are used, because they follow the terminal's theme. */
const SGR: Readonly<Record<Ink, number>> = { title: 1, positive: 32, negative: 31, level: 33, faint: 2 };

/** Formats one line of text without spaces at its end. Cuts the line at `width`. Every character must be one column wide. */
export function line(spans: readonly Span[], width: number, style: Style): string {
  let left = width;
  const shown: Span[] = [];
  for (const { text, ink } of spans) {
    const cut = text.slice(0, Math.max(0, left));
    left -= cut.length;
    const before = shown.at(-1);
    // Adjacent spans of the same ink are merged.
    if (before !== undefined && before.ink === ink) shown[shown.length - 1] = { text: before.text + cut, ink };
    else if (cut !== '') shown.push({ text: cut, ink });
  }
  while (shown.length > 0 && shown.at(-1)!.text.trimEnd() === '') shown.pop();
  return shown
    .map(({ text, ink }, i) => painted(i < shown.length - 1 ? text : text.trimEnd(), style.colour ? ink : undefined))
    .join('');
}

function painted(text: string, ink: Ink | undefined): string {
  return ink === undefined || text.trim() === '' ? text : `\u001b[${SGR[ink]}m${text}\u001b[0m`;
}

/** Formats the title of a chart. SIMULATED comes first, because a small width cuts off the end of the title. */
export function titleLine(
  { ticker, simulated }: { readonly ticker: string; readonly simulated: boolean },
  text: string,
  width: number,
  style: Style,
): string {
  return line([{ text: `${simulated ? 'SIMULATED ' : ''}${ticker}  ${text}`, ink: 'title' }], width, style);
}

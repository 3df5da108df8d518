/** How a terminal wants to be drawn on. */
export interface Style {
  /** Block, box and braille characters; else ASCII. */
  readonly unicode: boolean;
  readonly colour: boolean;
}

/** What is drawn has a sense, and the sense a colour: none tells anything that position or words do not. */
export type Ink = 'title' | 'positive' | 'negative' | 'level' | 'faint';

export interface Span {
  readonly text: string;
  readonly ink?: Ink | undefined;
}

/** SGR codes of the eight basic colours: they follow the terminal's own theme. */
const SGR: Readonly<Record<Ink, number>> = { title: 1, positive: 32, negative: 31, level: 33, faint: 2 };

/** One line of text, cut at `width`, with nothing blank at its end. Every character is one column wide. */
export function line(spans: readonly Span[], width: number, style: Style): string {
  let left = width;
  const shown: Span[] = [];
  for (const { text, ink } of spans) {
    const cut = text.slice(0, Math.max(0, left));
    left -= cut.length;
    const before = shown.at(-1);
    // Neighbours of one ink are painted as one.
    if (before !== undefined && before.ink === ink) shown[shown.length - 1] = { text: before.text + cut, ink };
    else if (cut !== '') shown.push({ text: cut, ink });
  }
  while (shown.length > 0 && shown.at(-1)!.text.trimEnd() === '') shown.pop();
  return shown
    .map(({ text, ink }, at) => painted(at < shown.length - 1 ? text : text.trimEnd(), style.colour ? ink : undefined))
    .join('');
}

function painted(text: string, ink: Ink | undefined): string {
  return ink === undefined || text.trim() === '' ? text : `\u001b[${SGR[ink]}m${text}\u001b[0m`;
}

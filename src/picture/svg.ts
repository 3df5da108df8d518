import { cleanLine } from '../core/clean-text.ts';

/** The only font of pictures. The renderer has only the Latin letters of this font, in one weight. */
export const FONT_FAMILY = 'IBM Plex Sans';

export const WHITE = '#ffffff';
export const INK = '#1f2933';
export const FAINT_INK = '#52606d';
export const GRID = '#e2e6eb';

/** Distance between the edges of a picture and its texts, pixels. */
export const MARGIN = 24;
/** Font sizes, pixels. The texts stay legible if a picture is shown at half its size. */
const TITLE_SIZE = 33;
export const TEXT_SIZE = 20;
const BADGE_SIZE = 23;
const BADGE_HEIGHT = 36;

/** The elements around the plot of a chart picture. */
export interface PictureHead {
  /** Width of the picture, pixels. */
  readonly width: number;
  readonly height: number;
  readonly title: string;
  /** The time and the selection of the data. The subtitle is below the title. */
  readonly subtitle?: string;
  /** The source of the data. The source is after the subtitle. */
  readonly source?: string;
  /** The assumption of the analysis. The note is at the lower edge. */
  readonly note?: string;
  readonly simulated?: boolean;
}

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** Returns the SVG of a chart on a white background. `plot` contains the SVG elements between the head and the note. */
export function svgPicture(head: PictureHead, plot: readonly string[] = []): string {
  const { width, height, title, subtitle = '', source = '', note = '', simulated } = head;
  const badge = simulated ? simulatedBadge(width - MARGIN) : { width: 0, svg: '' };
  const room = width - 2 * MARGIN;
  return element(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      width,
      height,
      'font-family': FONT_FAMILY,
      'font-size': TEXT_SIZE,
      fill: INK,
    },
    box(0, 0, width, height, WHITE),
    textAt(MARGIN, 48, fitted(title, TITLE_SIZE, room - badge.width - MARGIN), { 'font-size': TITLE_SIZE }),
    textAt(MARGIN, 82, subtitle + fitted(source, TEXT_SIZE, room - textWidth(subtitle, TEXT_SIZE)), {
      fill: FAINT_INK,
    }),
    badge.svg,
    ...plot,
    textAt(MARGIN, height - 22, fitted(note, TEXT_SIZE, room), { fill: FAINT_INK }),
  );
}

/** Returns a dark label for an upper corner of the picture. The right end of the label is at `right`. */
function simulatedBadge(right: number): { readonly width: number; readonly svg: string } {
  const text = 'SIMULATED';
  const width = textWidth(text, BADGE_SIZE) + MARGIN;
  const style = { 'font-size': BADGE_SIZE, 'text-anchor': 'middle', fill: WHITE };
  return {
    width,
    svg: box(right - width, 21, width, BADGE_HEIGHT, INK) + textAt(right - width / 2, 47, text, style),
  };
}

/** Returns an SVG element. The values of the attributes are escaped. `children` are SVG elements. Positions have at most two decimals. */
export function element(name: string, attributes: Attributes, ...children: readonly string[]): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${typeof value === 'number' ? Number(value.toFixed(2)) : escaped(value!)}"`);
  return `<${name}${written.join('')}>${children.join('')}</${name}>`;
}

/** Returns an escaped one-line text. The baseline starts at (`x`, `y`), or has its middle at this point if `text-anchor` is `middle`. */
export function textAt(x: number, y: number, text: string, attributes: Attributes = {}): string {
  return element('text', { x, y, ...attributes }, escaped(text));
}

export function box(x: number, y: number, width: number, height: number, fill: string): string {
  return element('rect', { x, y, width, height, fill });
}

/** Returns a straight line without anti-aliasing, because anti-aliasing would blur horizontal and vertical lines. */
export function segment(x1: number, y1: number, x2: number, y2: number, attributes: Attributes): string {
  return element('line', { x1, y1, x2, y2, 'stroke-width': 2, 'shape-rendering': 'crispEdges', ...attributes });
}

/** Escapes a text for SVG. Replaces characters that are invisible or not allowed in XML by spaces. */
function escaped(text: string): string {
  return cleanLine(text).replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The characters of the font, grouped by an upper bound of their width. */
const NARROW = /[ '!,.:;ijlft()[\]{}|]/;
const CAPITAL = /[A-Z&#]/;
const WIDE = /[mwMW%@…]/;

/** Returns an upper bound for the width of a text, pixels. The width of digits is exact. Characters outside ASCII count as wide. */
export function textWidth(text: string, size: number): number {
  let width = 0;
  for (const character of text) {
    if (NARROW.test(character)) width += 0.37;
    else if (WIDE.test(character) || character > '~') width += 0.95;
    else width += CAPITAL.test(character) ? 0.72 : 0.6;
  }
  return width * size;
}

/** Shortens a text that is wider than `width`. The function removes the middle, because the end of a path is the most specific part. */
function fitted(text: string, size: number, width: number): string {
  let shown = cleanLine(text);
  for (let max = shown.length - 1; max > 0 && textWidth(shown, size) > width; max--) shown = cleanLine(text, max);
  return shown;
}

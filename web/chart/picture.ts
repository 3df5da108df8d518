import { newYorkMoment } from '../page-format.ts';
import type { PanelOrigin } from '../state/panels.ts';
import { save } from '../state/ui.ts';

export interface PictureTitle extends PanelOrigin {
  readonly title: string;
  readonly unit: string;
}

const SCALE = 2;
const HEAD = 30;
/** CSS properties that are copied into the SVG. An exported picture has no style sheet. */
const SHAPE_STYLES = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-opacity',
  'opacity',
  'font',
  'text-anchor',
  'display',
];

/** Saves a chart as a PNG. The header line of the picture states the ticker, the moment, the options, and whether the market is simulated. */
export async function savePicture(panel: HTMLElement, name: string, title: PictureTitle): Promise<void> {
  const canvas = await pictureOf(panel, title);
  canvas.toBlob((blob) => blob && save(name, blob), 'image/png');
}

export async function pictureOf(panel: HTMLElement, title: PictureTitle): Promise<HTMLCanvasElement> {
  const body = panel.querySelector<HTMLElement>('.chart') ?? panel;
  const frame = body.getBoundingClientRect();
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(frame.width * SCALE);
  canvas.height = Math.ceil((frame.height + HEAD) * SCALE);
  const context = canvas.getContext('2d')!;
  context.scale(SCALE, SCALE);
  const style = getComputedStyle(panel);
  context.fillStyle = style.getPropertyValue('--ground').trim() || '#fff';
  context.fillRect(0, 0, frame.width, frame.height + HEAD);
  context.fillStyle = style.color;
  context.font = `600 13px ${style.fontFamily}`;
  context.textBaseline = 'middle';
  const simulated = title.isSimulated ? 'SIMULATED · ' : '';
  const options = [title.stale, title.scope].map((text) => text && `${text} · `).join('');
  context.fillText(
    `${simulated}${title.ticker} · ${title.title} · ${newYorkMoment(title.asOf, true)} New York · ${options}${title.unit}`,
    8,
    HEAD / 2,
    frame.width - 16,
  );
  const place = (element: Element) => {
    const box = element.getBoundingClientRect();
    return { x: box.left - frame.left, y: box.top - frame.top + HEAD, width: box.width, height: box.height };
  };
  for (const svg of body.querySelectorAll('svg')) {
    const { x, y, width, height } = place(svg);
    context.drawImage(await imageOf(svg, width, height), x, y, width, height);
  }
  for (const drawn of body.querySelectorAll('canvas')) {
    const { x, y, width, height } = place(drawn);
    if (drawn.width > 0 && drawn.height > 0) context.drawImage(drawn, x, y, width, height);
  }
  for (const label of body.querySelectorAll<HTMLElement>('[data-label]')) {
    const { x, y, width, height } = place(label);
    const own = getComputedStyle(label);
    if (own.backgroundColor !== 'rgba(0, 0, 0, 0)') {
      context.fillStyle = own.backgroundColor;
      context.fillRect(x, y, width, height);
    }
    context.fillStyle = own.color;
    // The `font` shorthand of the computed style is empty, because it cannot express `font-variant-numeric: tabular-nums`.
    context.font = `${own.fontWeight} ${own.fontSize} ${own.fontFamily}`;
    context.textAlign = 'left';
    context.fillText(label.textContent ?? '', x + Number.parseFloat(own.paddingLeft), y + height / 2);
  }
  return canvas;
}

/** Loads an SVG as an image, with the computed styles of the SVG on the page. */
async function imageOf(svg: SVGSVGElement, width: number, height: number): Promise<HTMLImageElement> {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const originals = [...svg.querySelectorAll('*')];
  for (const [i, element] of [...copy.querySelectorAll('*')].entries()) {
    const style = getComputedStyle(originals[i]!);
    for (const name of SHAPE_STYLES) element.setAttribute(name, style.getPropertyValue(name));
  }
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  return image;
}

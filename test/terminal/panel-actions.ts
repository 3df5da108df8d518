import { expect } from 'bun:test';
import type { Download, Page } from 'playwright-core';
import { RowScanner } from '../../src/math/delimited-rows.ts';
import type { GexView } from '../../web/data/page-answers.ts';
import { run } from '../support/process.ts';
import { type AnswerLog, answersOf, type CopiedCall, copiedCall, sourceOf } from './answers.ts';
import type { Terminal } from './browser.ts';
import { TABLES, type Table } from './panel-tables.ts';

/** A panel with a menu. */
export interface PanelMenu {
  readonly id: string;
  readonly asOf: string;
  /** The acts that are shown, by name. */
  readonly acts: readonly string[];
  /** What *Copy as curl* copies. */
  readonly curl: string;
  /** The size of the chart, pixels. Null: the panel has none. */
  readonly chart: { readonly width: number; readonly height: number } | null;
}

/** Returns the menus of the view. From now on, the page copies into a list in place of the clipboard. */
export function menusOf(page: Page): Promise<PanelMenu[]> {
  return page.evaluate(() => {
    const copied: string[] = [];
    navigator.clipboard.writeText = async (text) => void copied.push(text);
    return [...document.querySelectorAll<HTMLElement>('main [data-panel]:has(.panel-menu)')].map((panel) => {
      const buttons = [...panel.querySelectorAll<HTMLButtonElement>('.panel-menu button')];
      const acts = buttons.filter((each) => getComputedStyle(each).display !== 'none');
      acts.find((each) => each.textContent === 'Copy as curl')?.click();
      const box = panel.querySelector('.chart')?.getBoundingClientRect();
      return {
        id: panel.dataset.panel!,
        asOf: panel.dataset.asOf!,
        acts: acts.map((each) => each.textContent!),
        curl: copied.pop()!,
        chart: box ? { width: box.width, height: box.height } : null,
      };
    });
  });
}

/** The panels whose figures change while a test looks at them. */
const LIVE = new Set(['compare', 'universe', 'feed-simulated']);

/** What files and pictures say of themselves. */
interface Origin {
  readonly ticker: string;
  readonly isSimulated: boolean;
}

/**
 * Uses the acts of some panels. The copied command gives the bytes from which a panel is drawn, and the file, the table in
 * place of the chart and the picture have the figures of this answer.
 */
export async function checkPanels(
  page: Page,
  terminal: Terminal,
  panels: readonly PanelMenu[],
  origin: Origin,
): Promise<void> {
  const answers = await fetched(page, terminal, panels);
  const files = await savedFiles(page, panels, origin.ticker);
  await checkPictures(page, panels, files, origin);
  const tables = await shownTables(page, panels);
  for (const { id, asOf, acts, curl } of panels) {
    const answer = answers.get(id) as never;
    const expected = TABLES[id]?.(answer);
    expect([id, acts.includes('Save CSV')]).toEqual([id, expected !== undefined]);
    if (!expected) continue;
    const rows = rowsOfFile(
      id,
      [origin.ticker, asOf, String(origin.isSimulated), optionsOf(copiedCall(curl))],
      await files.get(`${id}.csv`)!.text(),
      expected,
    );
    const shown = tables.get(id);
    expect([id, shown !== undefined]).toEqual([id, acts.includes('Show the table')]);
    if (shown) expect([id, shown]).toEqual([id, tableTexts(id, expected.columns, rows, shown)]);
  }
}

/** Returns what the file of a panel says of its options, on a page without options. */
function optionsOf({ args, operation }: CopiedCall): string {
  if (operation.name === 'get_gex_history') return args.horizon ? 'next 35 days' : 'all expiries';
  return { 'next:35': 'Expiries next 35 days', all: 'all expiries' }[args.expiries ?? ''] ?? 'default';
}

/** Presses an act of some panels. */
function press(page: Page, act: string, panels: readonly string[]): Promise<void> {
  return page.evaluate(
    ([name, ids]) => {
      for (const id of ids) {
        const buttons = document.querySelectorAll<HTMLButtonElement>(`[data-panel="${id}"] .panel-menu button`);
        [...buttons].find((each) => each.textContent === name)!.click();
      }
    },
    [act, panels] as const,
  );
}

/** Chromium silently drops each download of a page after the tenth within a second of the first. A member does not press as fast. */
const DOWNLOADS_PER_SECOND = 10;
const downloads = new WeakMap<Page, { readonly sinceMs: number; readonly count: number }>();

/** Presses an act that saves a file of some panels, at a rate at which the browser drops none. */
async function pressToSave(page: Page, act: string, panels: readonly string[]): Promise<void> {
  const { sinceMs, count } = downloads.get(page) ?? { sinceMs: 0, count: DOWNLOADS_PER_SECOND };
  const isSameSecond = count + panels.length <= DOWNLOADS_PER_SECOND;
  if (!isSameSecond) await page.waitForFunction((untilMs) => Date.now() > untilMs, sinceMs + 1100);
  await press(page, act, panels);
  downloads.set(page, {
    sinceMs: isSameSecond ? sinceMs : Date.now(),
    count: panels.length + (isSameSecond ? count : 0),
  });
}

/** Returns an answer without the moment and the options, which the parts of the answer of all panels do not repeat. */
const figuresIn = (text: string) => text.replace(/^\{(?:"as_of":"[^"]*",)?(?:"options":\{[^}]*\},)?/, '{');

/** Runs the copied commands in a shell. Their answers have the bytes from which the panels are drawn. Returns the answers by panel. */
async function fetched(page: Page, terminal: Terminal, panels: readonly PanelMenu[]): Promise<Map<string, unknown>> {
  const answers = panels.map(async ({ id, asOf, curl }) => {
    expect(curl).not.toContain(terminal.key);
    const call = copiedCall(curl);
    const text = await sendCopied(curl, terminal.key);
    if (!LIVE.has(id)) {
      expect([id, call.args.at]).toEqual([id, asOf]);
      // The sessions up to the page's moment come from the answer of the time strip, which goes on to the newest snapshot.
      if (id !== 'sessions')
        expect([id, figuresIn(text)]).toEqual([id, figuresIn(await drawnFrom(answersOf(page), call))]);
    }
    return [id, JSON.parse(text)] as const;
  });
  return new Map(await Promise.all(answers));
}

/** Runs a copied command in a shell, with a function in place of curl, and sends the request that curl would send. Returns the answer. */
async function sendCopied(command: string, key: string): Promise<string> {
  const { stdout } = await run(['sh', '-c', `curl() { printf '%s\\0' "$@"; }; ZOMMA_KEY=${key}; ${command}`], []);
  const words = stdout.split('\0').slice(0, -1);
  const after = (flag: string) => words.flatMap((word, i) => (words[i - 1] === flag ? [word] : []));
  const [body] = after('-d');
  const url = words.at(-1)!;
  const headers = Object.fromEntries(after('-H').map((field) => field.split(': ') as [string, string]));
  // As curl does: the only flags are -H and -d, and the address comes last.
  expect(words.filter((word) => word.startsWith('-') && !['-H', '-d'].includes(word))).toEqual([]);
  const response = await fetch(url, { headers, ...(body !== undefined && { method: 'POST', body }) });
  return response.text();
}

/** Returns the text of the answer from which a panel with this call is drawn. */
async function drawnFrom(log: AnswerLog, call: CopiedCall): Promise<string> {
  const { answer, part } = sourceOf(log, call);
  const text = await answer!.text();
  return part ? JSON.stringify((JSON.parse(text) as GexView)[part]) : text;
}

/** Saves the CSV and the picture of panels. Returns the files by the end of their names: `ladder.csv`. */
async function savedFiles(page: Page, panels: readonly PanelMenu[], ticker: string) {
  const of = (act: string, hasChart: boolean) =>
    panels.filter(({ acts, chart }) => acts.includes(act) && (!hasChart || chart !== null)).map(({ id }) => id);
  const [csv, png] = [of('Save CSV', false), of('Save picture', true)];
  const files = new Map<string, ReturnType<typeof Bun.file>>();
  const all = Promise.withResolvers<void>();
  const fileName = new RegExp(`^zomma-${ticker}-(.+)-\\d{4}-\\d\\d-\\d\\dT\\d{9}Z\\.(csv|png)$`);
  const onDownload = async (download: Download) => {
    const [, name, kind] = fileName.exec(download.suggestedFilename()) ?? [];
    if (name === undefined) return all.reject(new Error(`a file named ${download.suggestedFilename()}`));
    files.set(`${name}.${kind}`, Bun.file(await download.path()));
    if (files.size === csv.length + png.length) all.resolve();
  };
  page.on('download', onDownload);
  await page.evaluate(() => {
    // A PNG has only pixels, so the texts that a picture is drawn with are kept.
    const drawn: string[] = [];
    Object.assign(globalThis, { drawn });
    const prototype = CanvasRenderingContext2D.prototype as CanvasRenderingContext2D & { isFollowed?: true };
    if (prototype.isFollowed) return;
    prototype.isFollowed = true;
    const { fillText } = prototype;
    prototype.fillText = function (text, ...place) {
      (globalThis as unknown as { drawn: string[] }).drawn.push(text);
      fillText.call(this, text, ...place);
    };
  });
  await pressToSave(page, 'Save CSV', csv);
  await pressToSave(page, 'Save picture', png);
  if (csv.length + png.length > 0) await all.promise;
  page.off('download', onDownload);
  return files;
}

/** Compares a file with a table. Returns the figures of its rows. */
function rowsOfFile(id: string, ofPage: readonly string[], text: string, { columns, rows: known }: Table): string[][] {
  const [head, ...rows] = csvRows(text.trimEnd());
  // A table of several tickers has the ticker of each row itself.
  const names = ['ticker', 'as_of', 'simulated', 'options'];
  const isOfPage = (_: string, i: number) => !columns.includes(names[i]!);
  const origin = ofPage.filter(isOfPage);
  expect([id, head]).toEqual([id, [...names.filter(isOfPage), ...columns]]);
  const expected = known.map((row, i) => [
    ...origin,
    ...row.map((value, column) =>
      value === undefined ? rows[i]?.[column + origin.length] : value === null ? '' : String(value),
    ),
  ]);
  expect([id, rows]).toEqual([id, expected as string[][]]);
  return rows.map((row) => row.slice(origin.length));
}

function csvRows(text: string): string[][] {
  const row = new RowScanner({ delimiter: ',', linesMax: 1, charsMax: text.length, isRaw: false });
  const bytes = Buffer.from(text);
  const rows: string[][] = [];
  for (let at = 0; at < bytes.length; ) {
    at = row.scan(bytes, at);
    for (let i = 0; i < row.rows; i++) {
      row.select(i);
      expect([row.isOpen, row.isMalformed]).toEqual([false, false]);
      rows.push(Array.from({ length: row.count }, (_, cell) => row.text(cell)));
    }
  }
  return rows;
}

interface ShownTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Shows the tables in place of charts, and reads them. Only the rows in view are on the page, so the tables are made as high as they are long. */
async function shownTables(page: Page, panels: readonly PanelMenu[]): Promise<ReadonlyMap<string, ShownTable>> {
  const ids = panels.filter(({ acts }) => acts.includes('Show the table')).map(({ id }) => id);
  await press(page, 'Show the table', ids);
  const tables = await page.evaluate(async (names) => {
    const found: [string, ShownTable][] = [];
    for (const id of names) {
      const grid = document.querySelector<HTMLElement>(`[data-panel="${id}"] [role="grid"]`)!;
      grid.style.cssText = 'height: 40000px; max-height: none; flex: none';
      const rows = () => [...grid.querySelectorAll('.grid-row')];
      while (rows().length < Number(grid.getAttribute('aria-rowcount')) - 1)
        await new Promise((resolve) => requestAnimationFrame(resolve));
      const texts = (row: Element) => [...row.children].map((each) => each.textContent!);
      found.push([id, { head: texts(grid.querySelector('.grid-head')!), rows: rows().map(texts) }]);
    }
    return found;
  }, ids);
  await press(page, 'Show the chart', ids);
  return new Map(tables);
}

/** Returns the texts that a table must have, by the rows of the file. Live figures are those of the table. */
function tableTexts(
  id: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  shown: ShownTable,
): ShownTable {
  const rounded = (text: string) => {
    if (text === '') return '—';
    return Number.isFinite(Number(text)) ? String(Number(Number(text).toPrecision(8))) : text;
  };
  const firstLive = LIVE.has(id) ? 1 : columns.length;
  return {
    head: columns.map((name) => name.replaceAll('_', ' ')),
    rows: rows.map((row, i) => row.map((text, at) => (at < firstLive ? rounded(text) : shown.rows[i]![at]!))),
  };
}

/** A picture has the size of its chart at two pixels for one, names ticker, moment and market, and is not blank. */
async function checkPictures(
  page: Page,
  panels: readonly PanelMenu[],
  files: ReadonlyMap<string, Blob>,
  { ticker, isSimulated }: Origin,
): Promise<void> {
  const charts = panels.filter(({ id }) => files.has(`${id}.png`));
  const bytes = await Promise.all(charts.map(({ id }) => files.get(`${id}.png`)!.arrayBuffer()));
  const pictures = await page.evaluate(
    async (texts) => {
      const { drawn } = globalThis as unknown as { drawn: string[] };
      const titles = drawn.splice(0).filter((each) => each.includes(' New York · '));
      return Promise.all(
        texts.map(async (text, i) => {
          const png = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
          const image = await createImageBitmap(new Blob([png], { type: 'image/png' }));
          const { width, height } = image;
          const context = new OffscreenCanvas(width, height).getContext('2d')!;
          context.drawImage(image, 0, 0);
          // The chart is below the title.
          const pixels = new Uint32Array(context.getImageData(0, 60, width, height - 60).data.buffer);
          const counts = new Map<number, number>();
          for (let from = 0, to = 0; to < pixels.length; from = to) {
            while (pixels[to] === pixels[from]) to++;
            counts.set(pixels[from]!, (counts.get(pixels[from]!) ?? 0) + to - from);
          }
          const drawnShare = 1 - Math.max(...counts.values()) / pixels.length;
          return { width, height, title: titles[i], colours: counts.size, drawnShare };
        }),
      );
    },
    bytes.map((each) => Buffer.from(each).toString('base64')),
  );
  for (const [i, { id, chart }] of charts.entries()) {
    const { title, colours, drawnShare, ...size } = pictures[i]!;
    expect([id, size]).toEqual([
      id,
      { width: Math.ceil(2 * chart!.width), height: Math.ceil(2 * (chart!.height + 30)) },
    ]);
    const first = `${isSimulated ? 'SIMULATED · ' : ''}${ticker} · `;
    expect([id, title?.slice(0, first.length), title?.slice(first.length)]).toEqual([
      ...[id, first],
      expect.stringMatching(/^.+ · \w{3} \d+ \w{3} \d{4} \d\d:\d\d New York · /),
    ]);
    expect([id, colours > 50, drawnShare > 0.02]).toEqual([id, true, true]);
  }
}

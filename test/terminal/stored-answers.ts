import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { type OpenOptions, still, type Terminal, withTerminal } from './browser.ts';

// Answers of a simulated market, stored once under fixtures/. A page that gets them shows the same on every machine and at every time of
// day, so that pictures and outlines change only with the page. `bun test/terminal/record-answers.ts` stores new ones.

export const FIXTURES = join(import.meta.dir, 'fixtures');
/** The ticker of the stored answers. It has few strikes and expiries, so that its answers are small. */
export const STORED_TICKER = 'XLE';

/** An answer of the server to a request of the page. */
export interface StoredAnswer {
  /** Method and address, without the moment: the answers are of one moment. */
  readonly request: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests change the answers of all operations, to bring the page into a state.
  readonly body: any;
}

/** Where to look for the answer to a request: its method and its address, without host and moment, and with its parameters in order. */
export function requestName(method: string, address: string): string {
  const { pathname, searchParams } = new URL(address);
  searchParams.delete('at');
  searchParams.sort();
  return `${method} ${pathname}${searchParams.size > 0 ? `?${searchParams}` : ''}`;
}

export function readAnswers(): StoredAnswer[] {
  return readdirSync(FIXTURES)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => JSON.parse(readFileSync(join(FIXTURES, name), 'utf8')) as StoredAnswer);
}

export function writeAnswer(name: string, answer: StoredAnswer): void {
  mkdirSync(FIXTURES, { recursive: true });
  writeFileSync(join(FIXTURES, `${name}.json`), `${JSON.stringify(answer)}\n`);
}

/** What answers the requests of a page. */
export interface ServedAnswers {
  /** Changes answers before they are sent. Undefined: the server does not answer. `at` is the moment of the request, if it names one. */
  change: (answer: StoredAnswer, at: string | null) => StoredAnswer | undefined;
}

/** The answer to a request that has none. */
const NOT_STORED = { status: 404, headers: {}, body: { code: 'not_stored' } };

/**
 * Answers all requests of a page for data, and stops its clock at the moment at which the answers were stored. Requests without an answer are
 * problems.
 */
export async function serveStored(page: Page, problems: string[]): Promise<ServedAnswers> {
  const answers = new Map(readAnswers().map((answer) => [answer.request, answer]));
  const now = answers.get('GET /api/v1/feeds')!.body.checked_at as string;
  const served: ServedAnswers = { change: (answer) => answer };
  await page.clock.setFixedTime(now);
  await page.route(/\/api\b/, async (route: Route) => {
    const request = route.request();
    const name = requestName(request.method(), request.url());
    // The stream stays open and sends nothing.
    if (name.includes('/stream/')) return;
    const answer = served.change(
      answers.get(name) ?? { request: name, ...NOT_STORED },
      new URL(request.url()).searchParams.get('at'),
    );
    if (!answer) return route.abort();
    const { status, headers, body } = answer;
    if (body === NOT_STORED.body) problems.push(`${name} has no stored answer: bun test/terminal/record-answers.ts`);
    await route.fulfill({ status, headers: { ...headers, date: new Date(now).toUTCString() }, json: body });
  });
  return served;
}

/** Starts a server without market data, whose pages get the stored answers. It is up sooner than a simulated market. */
export function withStoredTerminal(): Terminal {
  return withTerminal((folder) => {
    const drop = join(folder, 'chains');
    mkdirSync(drop);
    return ['--feed', `files:${drop}`];
  });
}

/** Opens a page that gets the stored answers, in a view of their ticker: `ticker`, `history?at=2026-11-19T21:00:00Z`. */
export async function openStored(
  terminal: Terminal,
  view: string,
  options: OpenOptions = {},
): Promise<{ page: Page; served: ServedAnswers }> {
  let served: ServedAnswers | undefined;
  const page = await terminal.open(`#/${STORED_TICKER}/${view}`, {
    ...options,
    prepare: async (each) => {
      served = await serveStored(each, terminal.problems);
    },
  });
  return { page, served: served! };
}

/** Goes to a view of the ticker of the stored answers, without loading the page again. */
export async function goTo(page: Page, view: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#/${STORED_TICKER}/${view}`);
  await page.waitForSelector(`main[data-view="${view.split('?')[0]}"]`);
  await still(page);
}

/**
 * Stores the answers of a small simulated market that the tests of the terminal serve: `bun test/terminal/record-answers.ts`. Opens every view
 * over the compiled binary, and keeps each answer that the page got, with rounded figures. The stored pictures and outlines are to be renewed
 * after it: `ZOMMA_UPDATE_STORED=true bun test --timeout 60000 test/terminal/marks test/terminal/reading`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { VIEWS } from '../../web/state/address.ts';
import { BINARY, keyOf, startServer } from '../support/process.ts';
import { chromiumPath, settled } from './browser.ts';
import { FIXTURES, requestName, STORED_TICKER, type StoredAnswer, writeAnswer } from './stored-answers.ts';

const THEMES = { beta_lords: ['SPY', 'QQQ'], hyperscalers: ['NVDA'], energy_metals: [STORED_TICKER, 'USO'] };
const DIGITS = 6;
/** A page this wide asks for all that any page asks for. */
const SIZE = { width: 2560, height: 1300 };

const folder = mkdtempSync(join(tmpdir(), 'zomma-record-'));
const universe = join(folder, 'universe.json');
writeFileSync(universe, JSON.stringify({ themes: THEMES }));
const server = await startServer(BINARY, [
  ...['start', '--port', '0', '--data-dir', folder, '--rate-limit', 'off', '--past', 'on', '--universe', universe],
]);
const browser = await chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] });
try {
  await server.loaded;
  const key = keyOf(server);
  await pastFilled(key);
  const page = await browser.newPage({ viewport: SIZE });
  const found = new Map<string, StoredAnswer>();
  const reading: Promise<unknown>[] = [];
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    // A repeat of a request has the answer of the first.
    if (!/^\/api\b/.test(pathname) || pathname.includes('/stream/') || response.status() === 304) return;
    const request = requestName(response.request().method(), response.url());
    const headers = Object.fromEntries(
      Object.entries(response.headers()).filter(([name]) => name === 'content-type' || name.startsWith('x-data-')),
    );
    reading.push(
      response
        .json()
        .then((body) => found.set(request, { request, status: response.status(), headers, body: rounded(body) })),
    );
  });
  await page.goto(`${server.url}/#key=${key}&/${STORED_TICKER}/ticker`);
  await page.waitForSelector('[data-figure]');
  for (const view of VIEWS) {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#/${STORED_TICKER}/${view}?explain=gex_flip`);
    await page.waitForSelector(`main[data-view="${view}"]`);
    await settled(page);
    if (view !== 'ticker') continue;
    // The page asks for the shares over moves once the member points at a price.
    const hedging = page.waitForResponse(/\/hedging\?/);
    await page.hover('[data-chart="ladder"] .plot');
    await hedging;
  }
  await Promise.all(reading);
  rmSync(FIXTURES, { recursive: true, force: true });
  for (const answer of found.values()) writeAnswer(fileNameOf(answer.request), answer);
  process.stdout.write(`${found.size} answers in ${FIXTURES}\n`);
} finally {
  await browser.close();
  await server.stop('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

/** Resolves when the simulated market has filled its past. */
async function pastFilled(key: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${server.url}/api/v1/feeds`, { headers: { 'X-API-Key': key } });
    const { feeds } = (await answer.json()) as { feeds: { past: { done: number; total: number } | null }[] };
    if (feeds.every(({ past }) => past !== null && past.done >= past.total)) return;
    await Bun.sleep(1_000);
  }
}

/** `GET /api/v1/nodes/gex/XLE/history?per=day&points=2000` is `nodes-gex-history-per-day-points-2000`. */
function fileNameOf(request: string): string {
  return request
    .replace(/^\w+ \/(?:api\/v1\/)?/, '')
    .replaceAll(`${STORED_TICKER}`, '')
    .replace(/(hedging)\?.*/, '$1')
    .split(/[^\w.]+/)
    .filter(Boolean)
    .join('-');
}

/** Returns an answer with figures of a few digits. */
function rounded(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? value : Number(value.toPrecision(DIGITS));
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, rounded(each)]));
}

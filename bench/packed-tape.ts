import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { arch, cpus, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { BINARY, FROM_SOURCE, startServer } from '../test/support/process.ts';
import { TICKER, writeListedTape } from './listed-tape.ts';
import { keepSection, sectionUnder } from './page.ts';

const HEADING = '## The tape: closed days in columns';
const BYTES_A_PRINT = 28;
const FIRST_QUESTION_MS = 60;
const ROWS = 1_000_000;
/** After its first load a service keeps levels that are due and signs a tape. */
const SETTLED_MS = 1_000;
const UUID = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';
const QUESTIONS = [
  `/api/v1/flow/${TICKER}`,
  `/api/v1/flow/${TICKER}/prints`,
  `/api/v1/nodes/gex/${TICKER}?sign=flow`,
  `/api/v1/flow/${TICKER}?min_premium=50000`,
];

/** `bun bench/packed-tape.ts [--write]`: half a minute; `--write` puts the section into the page, where `bun run bench --write` leaves it. */
if (import.meta.main) {
  const options = { command: BINARY, settledMs: SETTLED_MS };
  const section = sectionOf([await measureTape(ROWS, 1, options), await measureTape(ROWS, 21, options)]);
  console.log(section);
  if (process.argv.includes('--write')) await keepSection(HEADING, section);
}

/** The section as it stands on a page, to its end; empty where there is none. */
export function tapeSection(page: string): string {
  return sectionUnder(HEADING, page);
}

export interface TapeFigures {
  readonly rows: number;
  readonly days: number;
  readonly kept: number;
  readonly rowsPerSecond: number;
  /** Of the database, with the chain and all. */
  readonly bytesPerPrint: number;
  readonly questions: readonly Question[];
}

interface Question {
  readonly path: string;
  /** The first time that the server is asked, and the same again after a write. */
  readonly firstMs: number;
  readonly nextMs: number;
  /** The longest that /health, asked all the while, took. */
  readonly waitMs: number;
  readonly body: unknown;
}

export interface TapeOptions {
  readonly how?: 'packed' | 'rows';
  readonly command?: readonly string[];
  /** From the end of the first load to the question. */
  readonly settledMs?: number;
}

/** Loads a made-up tape with `zomma ingest`, or leaves it to the service to read as rows, and asks a server for its signed flow. */
export async function measureTape(
  rows: number,
  days: number,
  { how = 'packed', command = FROM_SOURCE, settledMs = 0 }: TapeOptions = {},
): Promise<TapeFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'zomma-tape-'));
  try {
    mkdirSync(join(folder, 'drop'));
    const { tape, chain } = writeListedTape(how === 'rows' ? join(folder, 'drop') : folder, rows, days);
    const data = ['--data-dir', join(folder, 'data')];
    const loaded =
      how === 'packed'
        ? ((await zomma(command, folder, 'ingest', tape, chain, '--json', ...data)) as {
            kept: number;
            rows_per_second: number;
            files: { kept: number }[];
          })
        : undefined;
    const bytes = loaded ? statSync(join(folder, 'data/zomma.sqlite')).size : Number.NaN;
    const { api_key: key } = (await zomma(command, folder, 'members', 'add', '--uuid', UUID, '--json', ...data)) as {
      api_key: string;
    };
    const questions: Question[] = [];
    // Each question is the first of its server.
    for (const path of QUESTIONS) {
      const feed = `files:${join(folder, 'drop')}`;
      const server = await startServer(command, [
        'serve',
        '--feed',
        feed,
        '--port',
        '0',
        '--rate-limit',
        'off',
        ...data,
      ]);
      try {
        await server.loaded;
        await Bun.sleep(settledMs);
        questions.push(await asked(server.url, path, key));
      } finally {
        await server.stop('SIGTERM');
      }
    }
    return {
      ...{
        rows,
        days,
        kept: loaded?.files[0]?.kept ?? Number.NaN,
        rowsPerSecond: loaded?.rows_per_second ?? Number.NaN,
      },
      ...{ bytesPerPrint: bytes / rows, questions },
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function zomma(command: readonly string[], cwd: string, ...args: string[]): Promise<unknown> {
  const child = Bun.spawn([...command, ...args], { cwd, stdout: 'pipe', stderr: 'inherit' });
  return await new Response(child.stdout).json();
}

async function asked(url: string, path: string, key: string): Promise<Question> {
  const headers = { 'x-api-key': key };
  // The connection is there, and the guard knows the key.
  await fetch(`${url}/api/v1/universe`, { headers }).then((response) => response.text());
  let [waitMs, isOver] = [0, false];
  const watch = (async () => {
    while (!isOver) {
      const startedAt = performance.now();
      await fetch(`${url}/health`).then((response) => response.text());
      waitMs = Math.max(waitMs, performance.now() - startedAt);
      await Bun.sleep(2);
    }
  })();
  const ask = async () => {
    const startedAt = performance.now();
    const response = await fetch(`${url}${path}`, { headers });
    const body = await response.json();
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(body)}`);
    return { body, ms: performance.now() - startedAt };
  };
  const first = await ask();
  const next = await ask();
  isOver = true;
  await watch;
  return { path, firstMs: first.ms, nextMs: next.ms, waitMs, body: first.body };
}

function sectionOf(figures: readonly TapeFigures[]): string {
  const said = (holds: boolean) => (holds ? 'reached' : 'missed');
  const firstMs = Math.max(...figures.flatMap(({ questions }) => questions.slice(0, 3).map((each) => each.firstMs)));
  const bytes = Math.max(...figures.map(({ bytesPerPrint }) => bytesPerPrint));
  return `${HEADING}

Generated by \`bun bench/packed-tape.ts --write\` on ${cpus()[0]?.model ?? 'an unknown processor'}, ${platform()} ${arch()}, Bun ${Bun.version}.

\`zomma ingest\` loads a made-up tape of one ticker. Its prices, sizes and contracts repeat as those of listed options do
(\`bench/listed-tape.ts\` describes how). Each question is the first request to a new server, one second after the server has loaded. By then
the service has computed the first three answers itself, in the background. Before that, or for a ticker other than its first ones,
these three take some 20 to 80 ms.

The wait is the longest time that \`/health\` took for another client meanwhile. Bytes a print are the size of the database file divided by
the number of prints. The file includes the digests of their ids and all other data that is stored about them.

| prints | days | rows a second | bytes a print |
|---|---|---|---|
${figures.map((each) => `| ${each.kept.toLocaleString('en-US')} | ${each.days} | ${each.rowsPerSecond.toLocaleString('en-US')} | ${each.bytesPerPrint.toFixed(1)} |`).join('\n')}

| days | question | first, ms | again, ms | wait of other clients, ms |
|---|---|---|---|---|
${figures.flatMap(({ days, questions }) => questions.map((each) => `| ${days} | \`${each.path}\` | ${each.firstMs.toFixed(0)} | ${each.nextMs.toFixed(0)} | ${each.waitMs.toFixed(0)} |`)).join('\n')}

- <= ${BYTES_A_PRINT} bytes a print: ${said(bytes <= BYTES_A_PRINT)}
- first question without a minimum premium <= ${FIRST_QUESTION_MS} ms: ${said(firstMs <= FIRST_QUESTION_MS)}
`;
}

import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeDataFolder } from '../test/support/data-folder.ts';
import { BINARY, FROM_SOURCE, startServer } from '../test/support/process.ts';
import { TICKER, writeListedTape } from './listed-tape.ts';
import { generatedBy, runSection } from './turns.ts';

const HEADING = '## The tape: past New York days in columns';
/** Target: the size of the database file divided by the number of prints, bytes. */
const BYTES_A_PRINT = 28;
/** Target: the time of a first question without a minimum premium, ms. */
const FIRST_QUESTION_MS = 60;
const ROWS = 1_000_000;
/** Time from the first load to a question, ms. In this time, the service records levels and finds the sides of the tape's prints. */
const SETTLED_MS = 1_000;
const UUID = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';
const QUESTIONS = [
  `/api/v1/flow/${TICKER}`,
  `/api/v1/flow/${TICKER}/prints`,
  `/api/v1/nodes/gex/${TICKER}?sign=flow`,
  `/api/v1/flow/${TICKER}?min_premium=50000`,
];

export interface TapeFigures {
  /** Number of prints of the tape. */
  readonly rows: number;
  readonly days: number;
  /**
   * Number of prints that `zomma ingest` has stored. NaN if the service reads the tape itself. The next two figures are NaN in the same
   * case.
   */
  readonly kept: number;
  readonly rowsPerSecond: number;
  /** Size of the database file, which also has the chain, divided by the number of prints. */
  readonly bytesPerPrint: number;
  readonly questions: readonly Question[];
}

interface Question {
  readonly path: string;
  /** Time of the first request to the server. */
  readonly firstMs: number;
  /** Time of the same request, sent again. */
  readonly nextMs: number;
  /** The longest time of /health, which another client requests meanwhile. */
  readonly waitMs: number;
  readonly body: unknown;
}

export interface TapeOptions {
  /** packed: `zomma ingest` loads the tape, and stores it as columns. rows: the service reads the tape from a drop folder. */
  readonly how?: 'packed' | 'rows';
  /** Starts `zomma`. The default runs from source. */
  readonly command?: readonly string[];
  /** Time from the end of the first load to the question, ms. */
  readonly settledMs?: number;
}

/** Writes an artificial tape, loads it, and sends each question to a new server. */
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
        ? ((await runZomma(command, folder, 'ingest', tape, chain, '--json', ...data)) as {
            kept: number;
            rows_per_second: number;
            files: { kept: number }[];
          })
        : undefined;
    if (!loaded) makeDataFolder(join(folder, 'data'));
    const bytes = loaded ? statSync(join(folder, 'data/zomma.sqlite')).size : Number.NaN;
    const { api_key: key } = (await runZomma(command, folder, 'members', 'add', '--uuid', UUID, '--json', ...data)) as {
      api_key: string;
    };
    const questions: Question[] = [];
    // Each server gets one question.
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
        questions.push(await askTwice(server.url, path, key));
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

/** Runs a command of `zomma`, and returns its JSON output. */
async function runZomma(command: readonly string[], cwd: string, ...args: string[]): Promise<unknown> {
  const child = Bun.spawn([...command, ...args], { cwd, stdout: 'pipe', stderr: 'inherit' });
  return await new Response(child.stdout).json();
}

/** Sends a question twice, while another client requests /health. */
async function askTwice(url: string, path: string, key: string): Promise<Question> {
  const headers = { 'x-api-key': key };
  // The first request opens the connection, and makes the server look up the key. It is not measured.
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

/** Returns the section of docs/benchmarks.md with these figures. */
function sectionOf(figures: readonly TapeFigures[]): string {
  const verdict = (holds: boolean) => (holds ? 'reached' : 'missed');
  const firstMs = Math.max(...figures.flatMap(({ questions }) => questions.slice(0, 3).map((each) => each.firstMs)));
  const bytes = Math.max(...figures.map(({ bytesPerPrint }) => bytesPerPrint));
  return `${HEADING}

${generatedBy('bun bench/packed-tape.ts')}

\`zomma ingest\` loads an artificial tape of one ticker. Prices, sizes and contracts are repeated in this tape as often as in trades of listed
options (\`bench/listed-tape.ts\` describes how). Each question is the first request to a new server, one second after the server has loaded
its data. The answers to questions without \`min_premium\` are computed in the background by then. Before, they take some 20 to 80 ms.

The wait of other clients is the longest time that another client waited for \`/health\` meanwhile. Bytes a print are the size of the database
file divided by the number of prints. The file also includes the chain, the digests of the prints' ids, the sums and the indexes.

| prints | days | rows a second | bytes a print |
|---|---|---|---|
${figures.map((each) => `| ${each.kept.toLocaleString('en-US')} | ${each.days} | ${each.rowsPerSecond.toLocaleString('en-US')} | ${each.bytesPerPrint.toFixed(1)} |`).join('\n')}

| days | question | first, ms | again, ms | wait of other clients, ms |
|---|---|---|---|---|
${figures.flatMap(({ days, questions }) => questions.map((each) => `| ${days} | \`${each.path}\` | ${each.firstMs.toFixed(0)} | ${each.nextMs.toFixed(0)} | ${each.waitMs.toFixed(0)} |`)).join('\n')}

- <= ${BYTES_A_PRINT} bytes a print: ${verdict(bytes <= BYTES_A_PRINT)}
- first question without a minimum premium <= ${FIRST_QUESTION_MS} ms: ${verdict(firstMs <= FIRST_QUESTION_MS)}
`;
}

/** `bun bench/packed-tape.ts [--write]` takes half a minute. */
if (import.meta.main) {
  const options = { command: BINARY, settledMs: SETTLED_MS };
  await runSection(HEADING, async () =>
    sectionOf([await measureTape(ROWS, 1, options), await measureTape(ROWS, 21, options)]),
  );
}

import { run, withFolder } from '../support/process.ts';
import type { ClientUnderTest } from './client.ts';
import { LIBRARIES } from './libraries.ts';
import { OFFICIAL } from './official.ts';
import { blocksOf, PAGE, runBlock } from './page.ts';
import { PROGRAMS } from './programs.ts';
import { type Service, startService } from './service.ts';
import { type Seen, STEPS, take } from './steps.ts';
import { nameOf, type Row, requestsOf, resultsOf } from './table.ts';
import type { Exchange } from './wire.ts';

/**
 * `bun test/clients/run.ts [--write] [word ...]` runs the steps with the clients whose row contains all the words.
 * Without words it runs every block of the page, then all clients. `--write` writes the tables to the page.
 */
const MARKS = ['<!-- made by bun run test:clients --write -->', '<!-- end of what is made -->'] as const;

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const clients = [...OFFICIAL, ...LIBRARIES, ...PROGRAMS].filter((client) =>
  words.every((word) => `${nameOf(client)} ${client.transport}`.toLowerCase().includes(word.toLowerCase())),
);
// A client may leave a pending promise when its connection ends. Its rejection is not a failure of a step.
process.on('unhandledRejection', (error) => progress(`left behind: ${error}`));

await withFolder(async (folder) => {
  const service = await startService(folder);
  if (words.length === 0) await runPage(service);
  const rows: Row[] = [];
  for (const client of clients) rows.push(await rowOf(client, service));
  await service.close();

  const node = (await run(['node'], ['--version'])).stdout.trim().slice(1);
  const text = resultsOf(rows, node);
  console.log(`${text}\n\n${requestsOf(rows)}`);
  if (process.argv.includes('--write')) await write(text);
  if (rows.some(({ steps }) => Object.values(steps).some(({ verdict }) => verdict === 'fails'))) process.exitCode = 1;
});
// Disconnected clients may have active timers.
process.exit();

async function runPage(service: Service): Promise<void> {
  for (const block of blocksOf(await Bun.file(PAGE).text())) {
    progress(`${PAGE}, line ${block.line} …`);
    try {
      await runBlock(block, service);
    } catch (error) {
      progress(`fails: ${(error as Error).message}`);
      process.exitCode = 1;
    }
  }
}

async function rowOf(client: ClientUnderTest, service: Service): Promise<Row> {
  progress(`${nameOf(client)}, ${client.transport} …`);
  service.wire.takeExchange();
  const steps: Record<string, Seen> = {};
  let exchange: Exchange | undefined;
  for (const [title, step] of Object.entries(STEPS)) {
    steps[title] = await take(step, client, service);
    exchange ??= service.wire.takeExchange();
  }
  return { client, steps, exchange: exchange! };
}

async function write(text: string): Promise<void> {
  const page = await Bun.file(PAGE).text();
  const [from, to] = MARKS.map((mark) => page.indexOf(mark)) as [number, number];
  if (from < 0 || to < from) throw new Error(`${PAGE} has no place for the tables`);
  await Bun.write(PAGE, `${page.slice(0, from + MARKS[0].length)}\n\n${text}\n\n${page.slice(to)}`);
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

import { Database } from 'bun:sqlite';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { STEP_MS_MAX } from '../src/core/event-loop-watchdog.ts';
import { addMember, BINARY, type Server, startServer, withFolder } from '../test/support/process.ts';
import { requestText } from '../test/support/wire.ts';
import { ask } from './http-runners.ts';
import { dropQuotes, type Listed, listMarket } from './market-files.ts';
import {
  cpuOf,
  familyCpuMs,
  generatedBy,
  type Median,
  medianOf,
  medianText,
  runSection,
  targetLine,
  untilIdle,
} from './turns.ts';

const HEADING = '## A market of many names';
/** Targets: the share of the main thread that a full market takes, CPU of the main thread for a snapshot and for a screen, ms. */
const TARGETS = { share: 0.35, snapshot250: 2, snapshot4760: 18, screen600: 4 } as const;
/** The whole US market: names, and contracts of each name on average. */
const FULL_NAMES = 6_000;
const MINUTE_MS = 60_000;
/** Expiries of a name, and strikes of the names, in turns: a name has 250 contracts on average. */
const EXPIRIES = 8;
const STRIKES = [6, 8, 9, 10, 13, 19, 28, 32];

export interface MarketOptions {
  /** Names of the market, of which all have a new snapshot in each minute. */
  readonly names: number;
  /** Minutes that are measured. One minute before them is a warm-up. */
  readonly minutes: number;
  /** Names of the markets whose screens are measured. */
  readonly screens: readonly number[];
  /** Names of the snapshots of 250 and of 4,760 contracts. */
  readonly small: number;
  readonly large: number;
}

export interface SnapshotCost {
  readonly what: string;
  readonly snapshots: number;
  readonly contracts: number;
  /** CPU time of the main thread, and of all threads and helper processes, for a snapshot, ms. */
  readonly main: Median;
  readonly all: Median;
}

export interface ScreenCost {
  readonly names: number;
  /** Names that the answer counts. */
  readonly matched: number;
  /** CPU time of the main thread for a screen of other arguments each time, ms. */
  readonly main: Median;
  readonly whipsaw: Median;
}

export interface MarketFigures {
  readonly costs: readonly SnapshotCost[];
  readonly screens: readonly ScreenCost[];
}

/** Measures a market whose quotes arrive as files: one file for each name and minute. Also measures snapshots of two sizes, and screens. */
export async function measureMarket(command: readonly string[], options: MarketOptions): Promise<MarketFigures> {
  const { names, minutes, small, large } = options;
  const now = Date.now() - 30 * MINUTE_MS;
  const costs: SnapshotCost[] = [];
  const cost = async (what: string, market: readonly Listed[], rounds: number) => {
    process.stderr.write(`${what} …\n`);
    costs.push(
      await withMarket(command, market, now, async ({ minute }) =>
        costOf(what, market, await runMinutes(minute, rounds)),
      ),
    );
  };
  if (small > 0)
    await cost(
      'snapshot of 250 contracts',
      listMarket(small, now, 5, () => 25),
      3,
    );
  if (large > 0)
    await cost(
      'snapshot of 4,760 contracts',
      listMarket(large, now, 20, () => 119),
      3,
    );
  const screens: ScreenCost[] = [];
  for (const size of options.screens) {
    process.stderr.write(`screen of ${size} names …\n`);
    screens.push(
      await withMarket(
        command,
        listMarket(size, now, 5, () => 6),
        now,
        async (given) => screenOf(size, given),
      ),
    );
  }
  if (names > 0)
    await cost(
      'market',
      listMarket(names, now, EXPIRIES, (name) => STRIKES[name % STRIKES.length]!),
      minutes,
    );
  return { costs, screens };
}

export interface Given {
  readonly server: Server;
  readonly key: string;
  /** Adds a member, and returns the member's key. */
  addKey(): Promise<string>;
  /** Drops the files of the next minute, and waits until all levels are stored. Returns the CPU time that this took, ms. */
  minute(): Promise<{ main: number; all: number }>;
}

/** Starts a server on an empty drop folder, and runs `work`. */
export function withMarket<T>(
  command: readonly string[],
  market: readonly Listed[],
  startAt: number,
  work: (given: Given) => Promise<T>,
): Promise<T> {
  return withFolder(async (folder) => {
    const [drop, data] = [join(folder, 'drop'), join(folder, 'data')];
    mkdirSync(drop);
    const args = ['serve', '--feed', `files:${drop}`, '--data-dir', data, '--port', '0', '--rate-limit', 'off'];
    const slow = ['--slow-step', String(STEP_MS_MAX)];
    const server = await startServer(command, [...args, ...slow]);
    try {
      await server.loaded;
      const addKey = () => addMember(command, data, crypto.randomUUID());
      const key = await addKey();
      const db = new Database(join(data, 'zomma.sqlite'), { readonly: true });
      const stored = db.prepare<{ count: number }, [number]>('SELECT count(*) AS count FROM levels WHERE as_of = ?');
      let minutes = 0;
      const minute = async () => {
        const asOf = startAt + MINUTE_MS * ++minutes;
        await untilIdle(server.pid);
        const before = { main: cpuOf(server.pid).main, all: familyCpuMs(server.pid) };
        for (const each of market) dropQuotes(folder, drop, each, minutes, asOf);
        while (stored.get(asOf)!.count < market.length) await Bun.sleep(LOOK_MS);
        await untilIdle(server.pid);
        return { main: cpuOf(server.pid).main - before.main, all: familyCpuMs(server.pid) - before.all };
      };
      return await work({ server, key, addKey, minute }).finally(() => db.close());
    } finally {
      await server.stop('SIGTERM');
    }
  });
}

const LOOK_MS = 200;

export async function runMinutes(minute: Given['minute'], rounds: number): Promise<{ main: number; all: number }[]> {
  await minute();
  const times: { main: number; all: number }[] = [];
  for (let round = 0; round < rounds; round++) times.push(await minute());
  return times;
}

function costOf(
  what: string,
  market: readonly Listed[],
  times: readonly { main: number; all: number }[],
): SnapshotCost {
  return {
    what,
    snapshots: market.length,
    contracts: market.reduce((sum, { strike }) => sum + strike.length, 0) / market.length,
    main: medianOf(times.map(({ main }) => main / market.length)),
    all: medianOf(times.map(({ all }) => all / market.length)),
  };
}

/** Asks for screens with other arguments each time, so that none is kept from before. */
async function screenOf(names: number, { server, key, minute }: Given): Promise<ScreenCost> {
  await minute();
  let asked = 0;
  let matched = 0;
  const screen = async (query: string) => {
    const before = cpuOf(server.pid).main;
    const request = requestText('GET', `/api/v1/screen?where=net_gex_mil%3C${1e6 + ++asked}${query}`, {
      'X-API-Key': key,
    });
    const { status, body } = await ask(server, request);
    if (status !== 200) throw new Error(body);
    matched = JSON.parse(body).matched;
    await Bun.sleep(2);
    return cpuOf(server.pid).main - before;
  };
  const times = async (count: number, query: string) => {
    for (let i = 0; i < count / 3; i++) await screen(query);
    const all: number[] = [];
    for (let i = 0; i < count; i++) all.push(await screen(query));
    return medianOf(all);
  };
  const main = await times(SCREENS, '');
  const counted = matched;
  return { names, matched: counted, main, whipsaw: await times(3, '&sort_by=whipsaw_risk_index') };
}

const SCREENS = 21;

/** Returns the section of docs/benchmarks.md with these figures. */
export function sectionOf({ costs, screens }: MarketFigures, { names, minutes }: MarketOptions): string {
  const market = costs.find(({ what }) => what === 'market');
  const share = (of: Median | undefined) => ((of?.[1] ?? Number.NaN) * FULL_NAMES) / MINUTE_MS;
  const of = (what: string) => costs.find((each) => each.what.includes(what))?.main[1] ?? Number.NaN;
  const screen = screens.find((each) => each.names === 600);
  const worst = screens.at(-1);
  const shown = (value: number) => Math.round(value).toLocaleString('en-US');
  return `${HEADING}

${generatedBy('bun bench/market.ts')}

An artificial market: each name has one file in a drop folder, which is replaced in each simulated minute, with moved quotes of all contracts and
their OSI symbols. A minute begins when the one before is stored. CPU times are from the first file to the last stored levels: of the
server's main thread, and of all its threads and reader processes, medians with their 95 % interval. ${names > 0 ? `The market of ${shown(names)} names has ${minutes} minutes.` : ''}${names > 0 && names < FULL_NAMES ? ` Shares are\nfor ${shown(FULL_NAMES)} names, computed from it; \`bun bench/market.ts --full\` runs all of them.` : ''}

| | contracts each | snapshots a minute | main thread, ms a snapshot | all, ms a snapshot |
|---|---|---|---|---|
${costs.map((each) => `| ${each.what} | ${shown(each.contracts)} | ${shown(each.snapshots)} | ${medianText(each.main)} | ${medianText(each.all)} |`).join('\n')}

${
  screens.length === 0
    ? ''
    : `| screen, other arguments each time | names in the answer's count | main thread, ms | sorted by whipsaw_risk_index, ms |
|---|---|---|---|
${screens.map((each) => `| ${shown(each.names)} names | ${shown(each.matched)} | ${medianText(each.main)} | ${medianText(each.whipsaw)} |`).join('\n')}

`
}${market ? `A market of ${shown(FULL_NAMES)} names a minute takes ${share(market.main).toFixed(2)} of the main thread, and ${share(market.all).toFixed(2)} of a core in all.\n\n` : ''}${targetLine('full market: share of the main thread', share(market?.main), TARGETS.share)}${targetLine('snapshot of 250 contracts, main thread, ms', of('250'), TARGETS.snapshot250)}${targetLine('snapshot of 4,760 contracts, main thread, ms', of('4,760'), TARGETS.snapshot4760)}${targetLine('screen of 600 names, ms', screen?.main[1] ?? Number.NaN, TARGETS.screen600)}${targetLine('names that the largest screen leaves out', worst ? worst.names - worst.matched : Number.NaN, 0)}`;
}

/** With few small snapshots, the idle work of the server would be a large part of the time: its polls and its recorder's. */
const DEFAULT: MarketOptions = { names: 600, minutes: 2, screens: [60, 600, 3_000], small: 600, large: 12 };

/** `bun bench/market.ts [--full] [--write] [market|snapshot|screen]` takes three minutes, and ten with `--full`. */
if (import.meta.main) {
  const given = process.argv.includes('--full') ? { ...DEFAULT, names: FULL_NAMES } : DEFAULT;
  const only = process.argv.slice(2).find((each) => !each.startsWith('--')) ?? '';
  const options = {
    ...given,
    ...(['snapshot', 'screen'].includes(only) && { names: 0 }),
    ...(['market', 'screen'].includes(only) && { small: 0, large: 0 }),
    ...(['market', 'snapshot'].includes(only) && { screens: [] }),
  };
  await runSection(HEADING, async () => sectionOf(await measureMarket(BINARY, options), options));
}

import { expect, test } from 'bun:test';
import { type HttpOptions, measureHttp, missedTargets, type Row, sectionOf } from '../../bench/http.ts';
import { ELYSIA, FASTIFY, HONO, type HttpTarget, RAW_WORK, ZOMMA } from '../../bench/http-contests.ts';
import { PROGRAM } from '../support/process.ts';

const SMALL: HttpOptions = { connections: 3, rows: 64, rounds: 2, sliceMs: 20 };

test('all installed servers give the same answers, and every row and target has figures', async () => {
  const figures = await measureHttp(PROGRAM, SMALL);
  const { tables } = figures;
  expect(tables.map(({ contest }) => contest.title)).toEqual([
    '`POST /api/v1/physics/greeks`',
    '`GET /api/v1/nodes/gex/SPY`, cached',
    '`GET /api/v1/nodes/gex/SPY` with If-None-Match: 304',
    '`GET /api/v1/universe`',
    '`calculate_kelly_sizing` called over MCP',
    'Batch of 64 options as JSON',
    'Batch of 64 options as columns of float64',
  ]);
  for (const { contest, rows } of tables) {
    expect(rows.map(({ name }) => name)).toEqual(contest.runners.map(({ name }) => name));
    const isOffered = contest.missing.every((each) => !each.startsWith(ZOMMA));
    for (const { name, rate, cpu, rateRatio, cpuRatio, requests } of rows) {
      const figures = [
        ...[rate, requests, ...(isOffered ? rateRatio : [])],
        ...(process.platform === 'linux' ? [cpu, ...(isOffered ? cpuRatio : [])] : []),
      ];
      expect([name, figures.every((value) => value > 0 && Number.isFinite(value))]).toEqual([name, true]);
    }
    if (isOffered) expect([rows[0]!.name.startsWith(ZOMMA), rows[0]!.rateRatio]).toEqual([true, [1, 1, 1]]);
  }
  // A peer that is not installed is listed as missing.
  const [greeks] = tables;
  const named = [...greeks!.rows.map(({ name }) => name), ...greeks!.contest.missing].join();
  for (const peer of [RAW_WORK, ELYSIA, HONO, FASTIFY.split(' ')[0]!]) expect(named).toContain(peer);

  const section = sectionOf(figures, SMALL);
  expect(section).not.toMatch(/NaN|undefined|Infinity/);
  const judged = section.match(/^- .*: (reached|missed) \(\d+\.\d\d\)$/gm)!;
  expect(judged.length).toBeGreaterThanOrEqual(6);
  expect(missedTargets(figures)).toHaveLength(judged.filter((line) => line.includes('missed')).length);
}, 240_000);

/** A peer with twice Zomma's rate and 0.8 of its CPU time. */
const PEER: Row = {
  ...{ name: 'peer', rate: 2, cpu: 0.8, requests: 1 },
  ...{ rateRatio: [0.4, 0.5, 0.6], cpuRatio: [0.7, 0.8, 0.9] },
};
const UNKNOWN = [Number.NaN, Number.NaN, Number.NaN] as const;

test.each<[by: HttpTarget['by'], bound: number, peer: Row | undefined, line: string]>([
  ['rate', 0.5, PEER, '>= 0.5: reached (0.50)'],
  ['rate', 0.51, PEER, '>= 0.51: missed (0.50)'],
  ['cpu', 0.8, PEER, '>= 0.8: reached (0.80)'],
  ['cpu', 0.81, PEER, '>= 0.81: missed (0.80)'],
  ['time', 1.25, PEER, '<= 1.25: reached (1.25)'],
  ['time', 1.2, PEER, '<= 1.2: missed (1.25)'],
  ['cpu', 0.5, { ...PEER, cpu: Number.NaN, cpuRatio: UNKNOWN }, '>= 0.5: not measured'],
  ['rate', 0.5, undefined, '>= 0.5: not measured'],
])('judges a target by %s of %d', (by, bound, peer, line) => {
  const target: HttpTarget = { text: 'a figure', against: 'peer', by, bound };
  const contest = { title: 'A request', connections: 1, runners: [], missing: [], targets: [target] };
  const figures = { tables: [{ contest, rows: peer ? [peer] : [] }], clientCpu: 1 };
  expect(sectionOf(figures, SMALL)).toContain(`- a figure ${line}\n`);
  expect(missedTargets(figures)).toEqual(line.includes('missed') ? [target] : []);
});

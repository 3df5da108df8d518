import { expect, test } from 'bun:test';
import { type HttpOptions, httpSection, measureHttp, missedTargets, sectionOf } from '../../bench/http.ts';
import { ELYSIA, FASTIFY, HONO, RAW_WORK, ZOMMA } from '../../bench/http-contests.ts';
import { FROM_SOURCE } from '../support/process.ts';

const SMALL: HttpOptions = { connections: 3, rows: 64, rounds: 2, sliceMs: 20 };

test('every installed server gives the same answers, and every row and target of the section has its figures', async () => {
  const figures = await measureHttp(FROM_SOURCE, SMALL);
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
  // A peer that is not installed is named as missing.
  const [greeks] = tables;
  const named = [...greeks!.rows.map(({ name }) => name), ...greeks!.contest.missing].join();
  for (const peer of [RAW_WORK, ELYSIA, HONO, FASTIFY.split(' ')[0]!]) expect(named).toContain(peer);

  const section = sectionOf(figures, SMALL);
  expect(section).not.toMatch(/NaN|undefined|Infinity/);
  const judged = section.match(/^- .*: (reached|missed) \(\d+\.\d\d\)$/gm)!;
  expect(judged.length).toBeGreaterThanOrEqual(6);
  expect(missedTargets(figures)).toHaveLength(judged.filter((line) => line.includes('missed')).length);
  expect(httpSection(`# Page\n\n${section}\n## Next\n\ntext\n`)).toBe(`${section}\n`);
}, 60_000);

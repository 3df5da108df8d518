import { expect, test } from 'bun:test';
import { type McpOptions, measureMcp, sectionOf } from '../../bench/mcp.ts';
import { CALLERS } from '../../bench/mcp-sessions.ts';
import { STREAM_KINDS } from '../../bench/mcp-streams.ts';
import { PROGRAM } from '../support/process.ts';
import { IS_FULL } from '../support/size.ts';

const STREAMS = IS_FULL ? 60 : 20;
const SMALL: McpOptions = {
  streams: [{ streams: STREAMS, crowds: 1 }],
  idle: { asks: 10, settleS: 0.5, backS: 0.5 },
  sessions: 5,
  calls: { rounds: 1, sliceMs: 50 },
};

test('idle streams of every kind stay open, every way to call answers, and all are reported', async () => {
  const { idle, calls } = await measureMcp(PROGRAM, SMALL);
  expect(idle.map(({ kind, streams, lost }) => [kind, streams, lost])).toEqual(
    STREAM_KINDS.map((kind) => [kind, STREAMS, 0]),
  );
  const callers = Object.keys(CALLERS);
  expect(calls).toHaveLength(4);
  for (const { figures } of calls) {
    expect(figures.map(({ caller }) => caller as string)).toEqual(callers);
    for (const each of figures) expect(each.calls).toBeGreaterThan(0);
    expect(figures[0]!.ratio).toEqual([1, 1, 1]);
  }
  const section = sectionOf({ idle, calls });
  expect(section).toContain('- no stream ended by the server: reached');
}, 240_000);

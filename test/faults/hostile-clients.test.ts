import { expect, test } from 'bun:test';
import { PROGRAM } from '../support/process.ts';
import { HONEST } from './hostile/honest.ts';
import { GROWTH_BYTES_MAX, measureHostile, POOLED_MAX } from './hostile-clients.ts';

const SECONDS = 4;
/** On top of the memory of an idle server: the unread data that it allows, and garbage that is not collected yet. */
const MEMORY_MAX_BYTES = 512 * 1024 * 1024;

test('hostile clients of every kind harm no honest client, meet their limits and leave nothing behind', async () => {
  const { honest, attacks, memory, socketsLeft, exitCode, errors } = await measureHostile(SECONDS, PROGRAM);
  expect(honest.map(({ name, failures }) => [name, failures])).toEqual(HONEST.map((name) => [name, []]));
  for (const { calls } of honest) expect(calls).toBeGreaterThan(SECONDS);

  const statuses = (name: string) => Object.keys(attacks.find((each) => each.name === name)!.seen).toSorted();
  expect(statuses('flood of calls')).toEqual(['200', '429']);
  expect(statuses('sessions and streams without end')).toEqual(['200', '429']);
  expect(statuses('bodies and headers that are none')).toEqual(['400', '403', '413', '415', '422']);
  // If the server has cut the stream in the meantime, its session no longer exists.
  for (const status of statuses('slow readers of /sse')) expect(['202', '404', '429']).toContain(status);
  expect(statuses('not HTTP')).toEqual(['400', '431', '505']);
  expect(statuses('revoked with streams open')).toEqual(['cut in time']);
  // No guess finds a session, and a known session of another member gives no access.
  for (const status of statuses('guessed sessions')) expect(['403', '404', '429']).toContain(status);
  expect(statuses('guessed sessions')).toEqual(expect.arrayContaining(['403', '404']));

  // Unknown if the system has no /proc.
  if (!Number.isNaN(memory.before)) {
    expect(memory.peak - memory.before).toBeLessThan(MEMORY_MAX_BYTES);
    expect(memory.after - memory.before).toBeLessThan(GROWTH_BYTES_MAX);
    expect(socketsLeft).toBeLessThanOrEqual(POOLED_MAX);
  }
  expect([exitCode, errors]).toEqual([0, []]);
}, 240_000);

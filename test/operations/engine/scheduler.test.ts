import { expect, test } from 'bun:test';
import { runToCompletion, StepCache, type Steps } from '../../../src/core/steps.ts';
import { createScheduler, type Job, type SchedulerLimits } from '../../../src/operations/engine/scheduler.ts';

/** A scheduler whose clock advances only with the steps, and a record of the steps in their order. */
function noting(limits: Partial<SchedulerLimits> = {}) {
  const clock = { ms: 0 };
  const done: string[] = [];
  const scheduler = createScheduler(limits, () => clock.ms);
  /** Runs `count` steps of `ms` each. */
  function* steps(name: string, count: number, stepMs: number): Steps<string> {
    for (let step = 1; step <= count; step++) {
      clock.ms += stepMs;
      done.push(`${name}${step}`);
      if (step < count) yield { message: name };
    }
    return name;
  }
  const run = (account: string, count: number, stepMs: number, more: Partial<Job<string>> = {}) =>
    scheduler.run({ account, name: 'test', steps: steps(account, count, stepMs), ...more });
  return { clock, done, scheduler, run };
}

test('jobs of one event-loop turn run in the next turn, up to the length of a turn', async () => {
  const { done, scheduler, run } = noting();
  const jobs = Array.from({ length: 10 }, () => run('a', 1, 1));
  expect([done.length, scheduler.size]).toEqual([0, 10]);
  await new Promise(setImmediate);
  expect(done.length).toBe(8);
  expect(await Promise.all(jobs)).toEqual(Array(10).fill('a'));
  expect([done.length, scheduler.size]).toEqual([10, 0]);
});

test('prompt jobs run at once while no job waits, up to a time limit per event-loop turn', async () => {
  const { done, scheduler, run } = noting();
  const jobs = Array.from({ length: 30 }, () => run('a', 1, 1, { isPrompt: true }));
  expect([done.length, scheduler.size]).toEqual([20, 10]);
  await Promise.all(jobs);
  await new Promise(setImmediate);
  const long = run('b', 3, 20, { isPrompt: true });
  expect(done.at(-1)).toBe('b1');
  const short = run('a', 1, 1, { isPrompt: true });
  expect(done.at(-1)).toBe('b1');
  expect(await Promise.all([long, short])).toEqual(['b', 'a']);
  expect(scheduler.size).toBe(0);
});

test('the account with the least usage is next: a small request waits for one step of another', async () => {
  const { done, run } = noting();
  const greedy = Array.from({ length: 20 }, () => run('greedy', 10, 20));
  await new Promise(setImmediate);
  const before = done.length;
  await run('honest', 1, 1);
  expect(done.slice(before).indexOf('honest1')).toBeLessThan(2);
  await Promise.all(greedy);
  expect(done).toHaveLength(201);
});

test('accounts with equal requests get equal service', async () => {
  const { done, run } = noting();
  await Promise.all(['a', 'b', 'c'].map((account) => run(account, 4, 20)));
  for (let round = 0; round < 4; round++) {
    expect(done.slice(3 * round, 3 * round + 3).toSorted()).toEqual(['a', 'b', 'c'].map((each) => each + (round + 1)));
  }
});

test('the event loop runs between steps', async () => {
  const { done, run } = noting();
  const job = run('a', 50, 10);
  let turns = 0;
  for (; done.length < 50; turns++) await new Promise(setImmediate);
  expect(turns).toBeGreaterThan(20);
  expect(await job).toBe('a');
});

test('limits the jobs per account, and how many of them have begun', async () => {
  const { clock, done, scheduler, run } = noting({ accountJobsMax: 5, accountBegunMax: 2 });
  let [begun, most] = [0, 0];
  function* counted(): Steps<void> {
    most = Math.max(most, ++begun);
    for (let step = 0; step < 3; step++) {
      clock.ms += 20;
      yield { message: 'step' };
    }
    begun--;
  }
  const slow = run('other', 100, 20);
  const jobs = Array.from({ length: 5 }, () => scheduler.run({ account: 'a', name: 'test', steps: counted() }));
  expect(scheduler.size).toBe(6);
  const refusal = expect.objectContaining({ code: 'too_many_requests', status: 429 });
  expect(() => run('a', 1, 1)).toThrow(refusal);
  expect(() => scheduler.assertCapacity('a')).toThrow(refusal);
  expect(() => scheduler.assertCapacity('other')).not.toThrow();
  await Promise.all(jobs);
  expect(most).toBe(2);
  expect(await run('a', 1, 1)).toBe('a');
  await slow;
  expect([scheduler.size, done.length]).toEqual([0, 101]);
});

test('limits the begun jobs of all accounts, and each account may begin one', async () => {
  const { clock, scheduler } = noting({ accountBegunMax: 4, begunMax: 3 });
  const begun: Record<string, number> = { a: 0, b: 0 };
  let most = 0;
  function* counted(account: string): Steps<void> {
    begun[account]!++;
    most = Math.max(most, begun.a! + begun.b!);
    for (let step = 0; step < 50; step++) {
      clock.ms += 1;
      yield { message: 'step' };
    }
    begun[account]!--;
  }
  const run = (account: string) => scheduler.run({ account, name: 'test', steps: counted(account) });
  const jobs = ['a', 'a', 'a', 'a', 'a', 'b'].map(run);
  for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate);
  expect(begun.b).toBe(1);
  await Promise.all(jobs);
  // The first job begins at once, before there is a queue.
  expect(most).toBeLessThanOrEqual(4);
});

test('a dropped job runs no more steps and frees its place', async () => {
  const { clock, done, scheduler, run } = noting();
  let isDropped = false;
  let isClosed = false;
  function* closing(): Steps<string> {
    try {
      for (;;) {
        clock.ms += 20;
        yield { message: 'endless' };
      }
    } finally {
      isClosed = true;
    }
  }
  const jobs = [
    run('a', 10, 20, { isDropped: () => isDropped }),
    run('a', 10, 20, { steps: closing(), isDropped: () => isDropped }),
  ];
  for (let turns = 0; turns < 4; turns++) await new Promise(setImmediate);
  isDropped = true;
  const before = done.length;
  const ends = await Promise.allSettled(jobs);
  expect(ends.map((end) => end.status === 'rejected' && end.reason.name)).toEqual(['AbortError', 'AbortError']);
  expect([done.length, isClosed, scheduler.size]).toEqual([before, true, 0]);
});

test('charges work before it begins, and skips the work if the account cannot pay', async () => {
  const { scheduler } = noting();
  const done: string[] = [];
  function* priced(): Steps<void> {
    yield { message: 'free' };
    yield { message: 'dear', tokens: 16 };
    done.push('dear');
  }
  const paid: number[] = [];
  await scheduler.run({ account: 'a', name: 'test', steps: priced(), charge: (tokens) => paid.push(tokens) });
  expect([paid, done]).toEqual([[16], ['dear']]);
  const poor = () =>
    scheduler.run({
      ...{ account: 'a', name: 'test', steps: priced() },
      charge: () => {
        throw new Error('poor');
      },
    });
  await expect(poor()).rejects.toThrow('poor');
  expect(done).toEqual(['dear']);
});

test('rejects a job that exceeds its deadline', async () => {
  const { clock, scheduler, run } = noting({ deadlineMs: 1_000 });
  const job = run('a', 100, 20);
  clock.ms += 1_000;
  await expect(job).rejects.toMatchObject({ code: 'overdue', status: 503, retryAfterS: 1 });
  expect(scheduler.size).toBe(0);
});

test('rejects with the error of the steps, immediate or later, and continues with other jobs', async () => {
  const { scheduler, run } = noting();
  function* failing(after: number): Steps<never> {
    for (let step = 0; step < after; step++) yield { message: 'fine' };
    throw new Error('no');
  }
  await expect(scheduler.run({ account: 'a', name: 'test', steps: failing(0) })).rejects.toThrow('no');
  const long = run('a', 2, 20);
  await expect(scheduler.run({ account: 'a', name: 'test', steps: failing(3) })).rejects.toThrow('no');
  expect([await long, scheduler.size]).toEqual(['a', 0]);
});

test('computes a result once for several requests, by any of them, and caches it', () => {
  const cache = new StepCache<object, string>(() => 2);
  const owner = {};
  let computed = 0;
  const ask = (key: string) =>
    cache.of(owner, key, {
      message: 'begin',
      tokens: 3,
      *steps() {
        computed++;
        yield { message: 'half' };
        return `result ${key}`;
      },
    });
  const [first, second] = [ask('x'), ask('x')];
  expect([first.next().value, second.next().value]).toEqual(Array(2).fill(expect.objectContaining({ tokens: 3 })));
  expect(first.next()).toEqual({ value: { message: 'half' }, done: false });
  // The first request is dropped. The second continues where the first stopped.
  first.return('');
  expect(second.next()).toEqual({ value: 'result x', done: true });
  expect([ask('x').next(), computed]).toEqual([{ value: 'result x', done: true }, 1]);
  for (const key of ['y', 'x', 'z']) runToCompletion(ask(key));
  expect(computed).toBe(3);
  runToCompletion(ask('x'));
  expect(computed).toBe(3);
  runToCompletion(ask('y'));
  expect(computed).toBe(4);
});

test('a failed computation rejects all current requests and is repeated for the next', () => {
  const cache = new StepCache<object, string>(() => 2);
  const owner = {};
  let fails = true;
  const ask = () =>
    cache.of(owner, 'x', {
      message: 'begin',
      *steps() {
        yield { message: 'half' };
        if (fails) throw new Error('no');
        return 'yes';
      },
    });
  const [first, second] = [ask(), ask()];
  for (const each of [first, second]) each.next();
  first.next();
  expect(() => second.next()).toThrow('no');
  expect(() => first.next()).toThrow('no');
  fails = false;
  expect(runToCompletion(ask())).toBe('yes');
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { READER_COMMAND } from '../../config.ts';
import { began } from '../../event-loop-watchdog.ts';
import type { Delivery } from '../../market/feed.ts';
import type { Content } from '../files/opened-file.ts';
import { unreadable } from '../refused.ts';
import { type FromReader, READER_BYTES_MAX, type ReaderJob, TOO_MUCH_MEMORY, type ToReader } from './messages.ts';
import { unpackDelivery } from './packed-delivery.ts';

/** Memory grows by some gigabytes a second at the most. */
const LOOK_MS = 10;
/** The largest file is parsed in a second or two; on a slow machine it may take ten times as long. */
const SILENCE_MS_MAX = 30_000;
/** A hint for the garbage collector of the reader, which else would wait for a share of the machine's memory to be in use. */
const READER_HEAP_BYTES = 192 * 1024 * 1024;

/** What an open file holds, as `contentsOf` has it, read in a process of its own. */
export function readFileApart(
  content: Content,
  nowMs: number,
  reached?: (bytes: number) => void,
): AsyncGenerator<Delivery, void> {
  return readApart(content.fd, { kind: 'file', facts: content.facts, nowMs }, reached);
}

/** The chain of a delayed-quotes answer, or nothing where it is another kind of JSON, read in a process of its own. */
export function readQuotesApart(body: Uint8Array, source: string, ticker: string): AsyncGenerator<Delivery, void> {
  return readApart(body, { kind: 'quotes', source, ticker });
}

/** One reader at a time: their memory adds up. */
let turn: Promise<void> = Promise.resolve();

/**
 * Reads what is at `stdin`, an open file or bytes, in a process of its own, whose memory and time are bounded. Throws a Failure where nothing
 * can be taken or it needed too much, `ReaderEnded` if it ended in any other way, and what the file system throws.
 */
async function* readApart(
  stdin: number | Uint8Array,
  job: ReaderJob,
  reached: (bytes: number) => void = () => {},
): AsyncGenerator<Delivery, void> {
  const before = turn;
  const { promise, resolve: end } = Promise.withResolvers<void>();
  turn = before.then(() => promise);
  await before;
  try {
    yield* deliveriesOfReader(stdin, job, reached);
  } finally {
    end();
  }
}

async function* deliveriesOfReader(
  stdin: number | Uint8Array,
  job: ReaderJob,
  reached: (bytes: number) => void,
): AsyncGenerator<Delivery, void> {
  const messages: FromReader[] = [];
  let wake = () => {};
  let killedFor: string | undefined;
  let heardAt = performance.now();
  let hasEnded = false;
  began('starting a reader');
  const child = Bun.spawn([...ownCommand(), READER_COMMAND], {
    stdin: stdin as number,
    stdout: 'ignore',
    stderr: 'ignore',
    env: readerEnv(),
    serialization: 'advanced',
    ipc(message: FromReader) {
      heardAt = performance.now();
      messages.push(message);
      wake();
    },
    onExit() {
      hasEnded = true;
      wake();
    },
  });
  const send = (message: ToReader) => {
    if (!hasEnded) child.send(message);
  };
  const kill = (reason: string) => {
    killedFor ??= reason;
    child.kill('SIGKILL');
  };
  const watch = setInterval(() => {
    if (residentBytes(child.pid) > READER_BYTES_MAX) kill(TOO_MUCH_MEMORY);
    // While deliveries wait here it waits too.
    if (messages.length > 0) heardAt = performance.now();
    else if (performance.now() - heardAt > SILENCE_MS_MAX)
      kill(`reading it took more than ${SILENCE_MS_MAX / 1_000} s`);
  }, LOOK_MS);
  try {
    send({ job });
    for (;;) {
      const message = messages.shift();
      if (message === undefined) {
        if (hasEnded && killedFor !== undefined) throw unreadable(killedFor);
        if (hasEnded) throw job.kind === 'file' ? new ReaderEnded(endOf(child)) : unreadable(endOf(child));
        await new Promise<void>((resolve) => (wake = resolve));
      } else if ('delivery' in message) {
        yield unpackDelivery(message.delivery);
        heardAt = performance.now();
        send({ taken: true });
      } else if ('reached' in message) reached(message.reached);
      else if ('failure' in message) throw unreadable(message.failure);
      else if ('errno' in message) throw Object.assign(new Error(message.message), { code: message.errno });
      else return;
    }
  } finally {
    clearInterval(watch);
    child.kill('SIGKILL');
    await withinMs(END_MS, child.exited);
  }
}

/** A process that waits for a disk or a network mount ends when that answers. */
const END_MS = 1_000;

/** Waits for something, but no longer than so long. */
async function withinMs(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}

/**
 * The reader was ended by something else than its bounds: a system that is short of memory, or a person. That says nothing of the file, which
 * can be read again; as an error of the system.
 */
export class ReaderEnded extends Error {
  readonly code = 'EREADER';
  readonly syscall = 'read';
}

/** How a reader ended without a word. */
function endOf({ signalCode, exitCode }: { readonly signalCode: unknown; readonly exitCode: number | null }): string {
  return `the process that read it ended (${signalCode ?? `exit code ${exitCode}`})`;
}

/** The command that runs this program: the executable, or the runtime on the sources. */
function ownCommand(): string[] {
  // Where it is compiled, its modules lie in a file system of its own.
  const isCompiled = /^(?:\/\$bunfs\/|[A-Z]:[\\/]~BUN)/.test(import.meta.dir);
  if (!isCompiled) return [process.execPath, join(import.meta.dir, '../../main.ts')];
  // The executable that runs, be another version in its place by now.
  return [existsSync(OWN_EXECUTABLE) ? OWN_EXECUTABLE : process.execPath];
}

const OWN_EXECUTABLE = '/proc/self/exe';

/** Credentials of the service are none of a reader's business. */
function readerEnv(): Record<string, string> {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('ZOMMA_')) as [string, string][];
  return { ...Object.fromEntries(own), BUN_JSC_forceRAMSize: String(READER_HEAP_BYTES) };
}

/** 0 where the system has no /proc, or the process has ended. */
function residentBytes(pid: number): number {
  try {
    return PAGE_BYTES * Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  } catch {
    return 0;
  }
}

const PAGE_BYTES = 4096;

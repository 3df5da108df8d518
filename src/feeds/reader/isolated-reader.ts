import { readFileSync } from 'node:fs';
import { announceStep } from '../../core/event-loop-watchdog.ts';
import { withinMs } from '../../core/within-ms.ts';
import type { Delivery } from '../../market/feed.ts';
import { READER_COMMAND } from '../../settings/config.ts';
import type { Content } from '../files/opened-file.ts';
import { unreadable } from '../rejections.ts';
import {
  type FromReader,
  READER_BYTES_MAX,
  type ReaderJob,
  TOO_MUCH_MEMORY,
  type ToReader,
  unpackDelivery,
} from './messages.ts';
import { childEnv, programCommand } from './reader-process.ts';

/** Interval between two checks of a reader's memory, ms. The memory grows by at most some gigabytes a second. */
const CHECK_INTERVAL_MS = 10;
/** Maximum time without a message from a reader, ms. The largest file takes a second or two, or ten times as long on a slow machine. */
const SILENCE_MS_MAX = 30_000;
/** The memory size that the reader's garbage collector assumes for the machine. */
const READER_HEAP_BYTES = 192 * 1024 * 1024;

/** Reads an open file in a separate process. Yields the same deliveries as `contentsOf`. */
export function readFileIsolated(
  content: Content,
  nowMs: number,
  onProgress?: (bytes: number) => void,
): AsyncGenerator<Delivery, void> {
  return readIsolated(content.fd, { kind: 'file', facts: content.facts, nowMs }, onProgress);
}

/** Reads a chain from delayed quotes in a separate process. Yields nothing if the JSON contains no delayed quotes. */
export function readQuotesIsolated(body: Uint8Array, source: string, ticker: string): AsyncGenerator<Delivery, void> {
  return readIsolated(body, { kind: 'quotes', source, ticker });
}

/** Resolves when the previous reader has ended. Only one reader runs at a time, because several readers would need too much memory. */
let lastReader: Promise<void> = Promise.resolve();

/**
 * Reads an open file or bytes in a separate process with bounded memory and time. `stdin` is the file's descriptor, or the bytes. Throws a
 * `ClientError` if nothing can be read, or if the reader exceeds a bound. Throws errors of the file system. If the reader ends early for
 * any other reason, throws `ReaderEnded` for a file, and a `ClientError` for quotes.
 */
async function* readIsolated(
  stdin: number | Uint8Array,
  job: ReaderJob,
  onProgress: (bytes: number) => void = () => {},
): AsyncGenerator<Delivery, void> {
  const before = lastReader;
  const { promise, resolve: end } = Promise.withResolvers<void>();
  lastReader = before.then(() => promise);
  await before;
  try {
    yield* deliveriesOfReader(stdin, job, onProgress);
  } finally {
    end();
  }
}

async function* deliveriesOfReader(
  stdin: number | Uint8Array,
  job: ReaderJob,
  onProgress: (bytes: number) => void,
): AsyncGenerator<Delivery, void> {
  const messages: FromReader[] = [];
  let wake = () => {};
  let killReason: string | undefined;
  let lastMessageAt = performance.now();
  let hasEnded = false;
  announceStep('starting a reader');
  const child = Bun.spawn([...programCommand(), READER_COMMAND], {
    stdin: stdin as number,
    stdout: 'ignore',
    stderr: 'ignore',
    env: childEnv(READER_HEAP_BYTES),
    serialization: 'advanced',
    ipc(message: FromReader) {
      lastMessageAt = performance.now();
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
    killReason ??= reason;
    child.kill('SIGKILL');
  };
  const watch = setInterval(() => {
    if (residentBytes(child.pid) > READER_BYTES_MAX) kill(TOO_MUCH_MEMORY);
    // While deliveries wait for the service, the reader waits as well and sends no messages, which is not an error.
    if (messages.length > 0) lastMessageAt = performance.now();
    else if (performance.now() - lastMessageAt > SILENCE_MS_MAX)
      kill(`reading the data made no progress for ${SILENCE_MS_MAX / 1_000} s`);
  }, CHECK_INTERVAL_MS);
  try {
    send({ job });
    for (;;) {
      const message = messages.shift();
      if (message === undefined) {
        if (hasEnded && killReason !== undefined) throw unreadable(killReason);
        if (hasEnded) throw job.kind === 'file' ? new ReaderEnded(describeEnd(child)) : unreadable(describeEnd(child));
        await new Promise<void>((resolve) => (wake = resolve));
      } else if ('delivery' in message) {
        yield unpackDelivery(message.delivery);
        lastMessageAt = performance.now();
        send({ acknowledged: true });
      } else if ('bytesRead' in message) onProgress(message.bytesRead);
      else if ('rejection' in message) throw unreadable(message.rejection);
      else if ('errno' in message) throw Object.assign(new Error(message.message), { code: message.errno });
      else return;
    }
  } finally {
    clearInterval(watch);
    child.kill('SIGKILL');
    await withinMs(END_MS, child.exited);
  }
}

/** Maximum wait for the end of a reader process, ms. A reader cannot end while it waits for a disk or a network mount. */
const END_MS = 1_000;

/**
 * The error of a reader that ended early without exceeding a bound, e.g. for lack of memory. The file may be valid, so the error has the
 * code and the system call of a file-system error.
 */
export class ReaderEnded extends Error {
  readonly code = 'EREADER';
  readonly syscall = 'read';
}

/** Describes the end of a reader that reported no result. */
function describeEnd({ signalCode, exitCode }: Pick<Bun.Subprocess, 'signalCode' | 'exitCode'>): string {
  return `the process that read the data ended (${signalCode ?? `exit code ${exitCode}`})`;
}

/** Returns the resident memory of a process, bytes. Returns 0 if the system has no /proc, or if the process has ended. */
function residentBytes(pid: number): number {
  try {
    return PAGE_BYTES * Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  } catch {
    return 0;
  }
}

const PAGE_BYTES = 4096;

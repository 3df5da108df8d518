import { ClientError, errorCode, OperatorError } from '../../core/errors.ts';
import { runToCompletion } from '../../core/steps.ts';
import type { Delivery } from '../../market/feed.ts';
import { writtenChain } from '../files/delayed-quotes.ts';
import { contentsOf } from '../files/deliveries.ts';
import { Content } from '../files/opened-file.ts';
import { unreadable } from '../rejections.ts';
import {
  type FromReader,
  packDelivery,
  READER_BYTES_MAX,
  type ReaderJob,
  TOO_MUCH_MEMORY,
  type ToReader,
  UNACKNOWLEDGED_MAX,
} from './messages.ts';
import { preferAsOomVictim } from './reader-process.ts';

const STDIN = 0;
/** Minimum time between two reports of progress, ms. A report also shows that the reader is alive. */
const REPORT_INTERVAL_MS = 200;

/** Runs the process that reads market data for the service. The process ends after one job, or when the service ends. */
export async function runReader(): Promise<void> {
  if (!process.send) throw new OperatorError('only the service itself can start this command', 'See `zomma --help`.');
  preferAsOomVictim();
  let unacknowledged = 0;
  let wake = () => {};
  const { promise: job, resolve } = Promise.withResolvers<ReaderJob>();
  process.on('disconnect', () => process.exit(1));
  process.on('message', (message: ToReader) => {
    if ('job' in message) resolve(message.job);
    else {
      unacknowledged--;
      wake();
    }
  });
  const send = (message: FromReader) => void process.send!(message);
  try {
    let reportedAt = 0;
    const onProgress = (bytes: number) => {
      if (performance.now() - reportedAt < REPORT_INTERVAL_MS) return;
      reportedAt = performance.now();
      assertMemory();
      send({ bytesRead: bytes });
    };
    for await (const delivery of deliveriesFor(await job, onProgress)) {
      assertMemory();
      while (unacknowledged >= UNACKNOWLEDGED_MAX) await new Promise<void>((resolve) => (wake = resolve));
      unacknowledged++;
      send({ delivery: packDelivery(delivery) });
    }
    send({ done: true });
  } catch (error) {
    const code = errorCode(error);
    if (error instanceof ClientError) send({ rejection: error.message });
    else if (code !== undefined) send({ errno: code, message: (error as Error).message });
    else throw error;
  }
}

async function* deliveriesFor(job: ReaderJob, onProgress: (bytes: number) => void): AsyncGenerator<Delivery> {
  if (job.kind === 'file') {
    yield* contentsOf(new Content(STDIN, job.facts), { nowMs: job.nowMs, onProgress });
    return;
  }
  const text = new TextDecoder().decode(await Bun.stdin.bytes());
  const snapshot = runToCompletion(writtenChain(text, job.source, job.ticker));
  if (snapshot) yield { kind: 'chain', ...snapshot };
}

/** Throws a `ClientError` if this process takes too much memory. Without /proc, only the process itself can see its memory. */
function assertMemory(): void {
  if (process.memoryUsage.rss() > READER_BYTES_MAX) throw unreadable(TOO_MUCH_MEMORY);
}

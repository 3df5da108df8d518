import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Ledger } from '../../core/ledger.ts';
import type { FeedLedger, KnownFeeds } from '../../market/feed-ledger.ts';

/** Where a journal of readings is stored. */
export interface JournalStorage {
  /** The process that writes now. */
  readonly writer: string;
  /** Returns whether the process that wrote a journal, another one than `writer`, may still read the file. */
  mayRun(writer: string): boolean;
  read(): string | undefined;
  /** Stores the journal. With null, removes it. */
  write(text: string | null): void | Promise<void>;
  /** Whether a file is known by its content. Otherwise, size and modification time tell its version. */
  readonly isByContent: boolean;
}

/** Stores a journal in a file, which is not synced to the disk. */
export function fileJournal(path: string): JournalStorage {
  return {
    writer: String(process.pid),
    // The other process may be a previous service that has not ended yet.
    mayRun(writer) {
      try {
        return writer !== String(process.pid) && process.kill(Number(writer), 0);
      } catch {
        return false;
      }
    },
    read() {
      try {
        return readFileSync(path, 'utf8');
      } catch {
        return undefined;
      }
    },
    write(text) {
      try {
        if (text === null) rmSync(path, { force: true });
        else writeFileSync(path, text, { mode: 0o600 });
      } catch {
        // The disk may be full. The service can read files without the journal.
      }
    },
    isByContent: false,
  };
}

/** The feed under which the journal is stored. */
const JOURNAL = 'reading';

/**
 * Stores a journal with the data, for servers that take each other's place: a file that ended one of them may end the next. The others may have
 * the file with another modification time, so its content counts. `writer` differs from that of every other server.
 */
export function ledgerJournal(
  store: Pick<KnownFeeds, 'checkpoints'> & Ledger<FeedLedger>,
  writer: string,
): JournalStorage {
  return {
    writer,
    mayRun: () => false,
    read: () => store.checkpoints(JOURNAL).get(''),
    write: (text) => store.write((tx) => tx.setCheckpoint(JOURNAL, '', text)),
    isByContent: true,
  };
}

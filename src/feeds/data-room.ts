import { readdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Observe } from '../events.ts';

/** Whether the data folder may grow. */
export interface DataRoom {
  /** Why nothing more may be stored, in words. Returns `undefined` while there is room. Checks the disk at most once a second. */
  fullReason(): string | undefined;
}

/** Market data cannot be stored now, because the data folder has no room to grow. */
export class NoRoom extends Error {}

const MB = 1_000_000;
/** The write-ahead log takes up to 64 MB, and packing and levels take some more. A full disk would harm all other programs that use it. */
const FREE_BYTES_MIN = 256 * MB;
/** On a small disk, this share of the disk is left free instead. */
const FREE_SHARE_MIN = 0.1;
/** There is room again only below this share of the bound. At the bound itself, the state would change with each transaction. */
const ROOM_SHARE = 0.98;
const CHECK_INTERVAL_MS = 1_000;

export interface DataRoomDeps {
  readonly dataDir: string;
  /** The value of `--data-max`, bytes. If omitted, only the free space of the disk is a bound. */
  readonly dataMax?: number | undefined;
  /** Receives one event when the room ends, and one when there is room again. */
  readonly observe?: Observe | undefined;
  /** A monotonic clock, ms. */
  readonly elapsedMs?: () => number;
}

/**
 * Bounds the size of the data folder, which holds the database with its log, and leaves some of the disk free.
 */
export function createDataRoom({
  dataDir,
  dataMax = Number.POSITIVE_INFINITY,
  observe,
  elapsedMs = () => performance.now(),
}: DataRoomDeps): DataRoom {
  let reason: string | undefined;
  let checkedAt = Number.NEGATIVE_INFINITY;

  const check = (): string | undefined => {
    const share = reason === undefined ? 1 : ROOM_SHARE;
    const bytes = bytesIn(dataDir);
    if (bytes >= share * dataMax) {
      return `The data folder holds ${formatBytes(bytes)} of --data-max ${formatBytes(dataMax)}: nothing more is stored until there is room.`;
    }
    const { bavail, bsize, blocks } = statfsSync(dataDir);
    const freeMin = Math.min(FREE_BYTES_MIN, FREE_SHARE_MIN * blocks * bsize);
    if (share * bavail * bsize >= freeMin) return undefined;
    return `The disk of the data folder has ${formatBytes(bavail * bsize)} left, less than ${formatBytes(freeMin)}: nothing more is stored until there is room.`;
  };

  return {
    fullReason() {
      if (elapsedMs() - checkedAt < CHECK_INTERVAL_MS) return reason;
      checkedAt = elapsedMs();
      const wasFull = reason !== undefined;
      reason = check();
      if (reason !== undefined && !wasFull) observe?.({ kind: 'data_full', reason });
      if (reason === undefined && wasFull) observe?.({ kind: 'data_has_room' });
      return reason;
    },
  };
}

function bytesIn(dir: string): number {
  const sizes = readdirSync(dir).map((name) => statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}

function formatBytes(bytes: number): string {
  return bytes < 1_000 * MB ? `${Math.round(bytes / MB)} MB` : `${(bytes / 1_000 / MB).toPrecision(3)} GB`;
}

import { readdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Observe } from '../core/events.ts';

/** Checks whether the data folder may grow. */
export interface DiskSpace {
  /** Returns the reason why no more data may be stored, or `undefined` if there is room. Reads the disk at most once a second. */
  fullReason(): string | undefined;
}

/** The error for market data that cannot be stored, because the data folder must not grow. */
export class NoDiskSpace extends Error {}

const MB = 1_000_000;
/** Disk space that must stay free, bytes: the write-ahead log takes up to 64 MB, and a full disk would harm every program. */
const FREE_BYTES_MIN = 256 * MB;
/** Share of a small disk that must stay free. On larger disks, the required free space is FREE_BYTES_MIN. */
const FREE_SHARE_MIN = 0.1;
/**
 * A full folder has room again below `ROOM_SHARE * dataMax`, and with `ROOM_SHARE` times the required free space, so that it does not
 * change at each transaction.
 */
const ROOM_SHARE = 0.98;
const CHECK_INTERVAL_MS = 1_000;

export interface DiskSpaceDeps {
  readonly dataDir: string;
  /** The value of `--data-max`, bytes. If omitted, only free disk space limits the folder. */
  readonly dataMax?: number | undefined;
  /** Receives one event when the folder becomes full, and one event when the folder has room again. */
  readonly observe?: Observe | undefined;
  /** A monotonic clock, ms. */
  readonly elapsedMs?: () => number;
}

/** Creates the check of the data folder. The folder is full if its size reaches `dataMax`, or if too little of the disk is free. */
export function createDiskSpace({
  dataDir,
  dataMax = Number.POSITIVE_INFINITY,
  observe,
  elapsedMs = () => performance.now(),
}: DiskSpaceDeps): DiskSpace {
  let reason: string | undefined;
  let checkedAt = Number.NEGATIVE_INFINITY;

  const check = (): string | undefined => {
    const share = reason === undefined ? 1 : ROOM_SHARE;
    const bytes = bytesIn(dataDir);
    if (bytes >= share * dataMax) {
      return `The data folder has ${formatBytes(bytes)}, and --data-max is ${formatBytes(dataMax)}. Nothing more is stored until there is room.`;
    }
    const { bavail, bsize, blocks } = statfsSync(dataDir);
    const freeMin = Math.min(FREE_BYTES_MIN, FREE_SHARE_MIN * blocks * bsize);
    if (share * bavail * bsize >= freeMin) return undefined;
    return `The disk of the data folder has ${formatBytes(bavail * bsize)} free, but ${formatBytes(freeMin)} must stay free. Nothing more is stored until there is room.`;
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

/** Formats a number of bytes, for example `20.0 GB`. */
export function formatBytes(bytes: number): string {
  return bytes < 1_000 * MB ? `${Math.round(bytes / MB)} MB` : `${(bytes / 1_000 / MB).toPrecision(3)} GB`;
}

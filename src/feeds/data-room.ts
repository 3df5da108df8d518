import { readdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../errors.ts';
import type { Observe } from '../events.ts';

/** Whether the data folder may grow. */
export interface DataRoom {
  /** Why nothing more may be stored, in words; undefined while there is room. Looks at the disk once a second at the most. */
  fault(): string | undefined;
}

/** What market data must not be stored for now: the data folder has no room. */
export class NoRoom extends Error {}

const MB = 1_000_000;
/** The write-ahead log takes up to 64 MB, packing and levels some more; a disk that is full harms whatever else is on it. */
const FREE_BYTES_MIN = 256 * MB;
/** Of a small disk. */
const FREE_SHARE_MIN = 0.1;
/** So much below the bound there is room again: at the bound itself it would come and go with each transaction. */
const ROOM_SHARE = 0.98;
const LOOK_MS = 1_000;

export interface DataRoomParts {
  readonly dataDir: string;
  /** As `--data-max` has it; without it only the disk is a bound. */
  readonly dataMax?: string | undefined;
  /** Hears once that there is no room, and once that there is again. */
  readonly observe?: Observe | undefined;
  /** A clock that never goes back, ms. */
  readonly elapsedMs?: () => number;
}

/**
 * Bounds what a data folder takes, which is the database with its log, and leaves some of the disk free. Throws `OperatorError` where the
 * bound is no size.
 */
export function createDataRoom({
  dataDir,
  dataMax,
  observe,
  elapsedMs = () => performance.now(),
}: DataRoomParts): DataRoom {
  const bytesMax = dataMax === undefined ? Number.POSITIVE_INFINITY : sizeOf(dataMax);
  let fault: string | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;

  const look = (): string | undefined => {
    const share = fault === undefined ? 1 : ROOM_SHARE;
    const bytes = bytesIn(dataDir);
    if (bytes >= share * bytesMax) {
      return `The data folder holds ${told(bytes)} of --data-max ${dataMax}: nothing more is stored until there is room.`;
    }
    const { bavail, bsize, blocks } = statfsSync(dataDir);
    const freeMin = Math.min(FREE_BYTES_MIN, FREE_SHARE_MIN * blocks * bsize);
    if (share * bavail * bsize >= freeMin) return undefined;
    return `The disk of the data folder has ${told(bavail * bsize)} left, less than ${told(freeMin)}: nothing more is stored until there is room.`;
  };

  return {
    fault() {
      if (elapsedMs() - lookedAt < LOOK_MS) return fault;
      lookedAt = elapsedMs();
      const had = fault !== undefined;
      fault = look();
      if (fault !== undefined && !had) observe?.({ kind: 'data_full', reason: fault });
      if (fault === undefined && had) observe?.({ kind: 'data_has_room' });
      return fault;
    },
  };
}

function bytesIn(dir: string): number {
  const sizes = readdirSync(dir).map((name) => statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}

const UNITS: Readonly<Record<string, number>> = { MB, GB: 1_000 * MB, TB: 1_000_000 * MB };

function sizeOf(text: string): number {
  const [, number, unit] = /^(\d{1,9}(?:\.\d{1,3})?)\s?([MGT]B)$/i.exec(text.trim()) ?? [];
  const bytes = Number(number) * (UNITS[unit?.toUpperCase() ?? ''] ?? Number.NaN);
  if (bytes > 0) return bytes;
  throw new OperatorError('--data-max is not a size', 'use MB, GB or TB, e.g. --data-max 20GB; leave it out for none');
}

function told(bytes: number): string {
  return bytes < 1_000 * MB ? `${Math.round(bytes / MB)} MB` : `${(bytes / 1_000 / MB).toPrecision(3)} GB`;
}

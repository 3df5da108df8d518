import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { ClientError, OperatorError } from '../../core/errors.ts';
import { instantReader, isZone } from './date-forms.ts';
import { isTimeOfDay, MAPPING_BYTES_MAX } from './mapping.ts';
import { parseMapping } from './mapping-file.ts';
import type { Stated } from './stated.ts';

/** The values of the flags that state what a file does not say. */
export interface StatedFlags {
  readonly asOf?: string;
  readonly zone?: string;
  readonly close?: string;
  readonly map?: string;
}

/** Returns what the flags state. Throws `OperatorError` if a flag has no valid value, or if the mapping's file is none. */
export function statedIn({ asOf, zone, close, map }: StatedFlags): Stated {
  if (zone !== undefined && !isZone(zone))
    throw new OperatorError(`--zone ${zone} is not a time zone`, 'Use a name such as America/New_York or UTC.');
  if (close !== undefined && !isTimeOfDay(close))
    throw new OperatorError(
      `--close ${close} is not a time of day`,
      'Use hours and minutes in New York, such as 15:45.',
    );
  return { zone, close, asOf: asOf === undefined ? undefined : timeOf(asOf, { zone, close }), mapping: mappingIn(map) };
}

function timeOf(text: string, forms: { zone?: string | undefined; close?: string | undefined }): number {
  const micros = orOperatorError(
    () => instantReader('--as-of', [text], forms)(text),
    'Use 2026-08-21, or 2026-08-21T15:45-04:00. --zone states the zone.',
  );
  if (micros !== undefined) return Math.floor(micros / 1_000);
  throw new OperatorError(`--as-of ${text} is not a time`, 'Use 2026-08-21, or 2026-08-21T15:45-04:00.');
}

function mappingIn(path: string | undefined) {
  if (path === undefined) return undefined;
  if (!existsSync(path)) throw new OperatorError(`${path} does not exist`, `Name the file of a mapping. ${SEE_DOCS}`);
  const text = orOperatorError(() => {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > MAPPING_BYTES_MAX)
      throw new OperatorError(`${path} is no small file, so no mapping`, SEE_DOCS);
    return readFileSync(path, 'utf8');
  }, SEE_DOCS);
  return orOperatorError(() => parseMapping(text, basename(path)), SEE_DOCS);
}

const SEE_DOCS = 'docs/vendors.md says what a mapping has. `zomma map guess FILE` prints a draft.';

/** Returns the result of `work`. An error of the file system or of a mapping becomes an `OperatorError`. */
function orOperatorError<T>(work: () => T, hint: string): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ClientError) && !(error instanceof Error && 'syscall' in error)) throw error;
    throw new OperatorError(error.message, hint, { cause: error });
  }
}

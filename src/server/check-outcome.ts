import { cleanLine } from '../core/clean-text.ts';
import type { SettingName, SettingValues } from '../settings/config.ts';

/** The outcome of one check of an installation. */
export interface CheckOutcome {
  /** The subject of the check, in one or two words. */
  readonly of: string;
  readonly state: 'ok' | 'warning' | 'failure';
  readonly message: string;
  /** The recommended action, if there is one. */
  readonly hint?: string;
}

export interface CheckOptions {
  readonly settings: SettingValues;
  /** The settings that are given to the check. The others have their defaults. */
  readonly given: ReadonlySet<SettingName>;
  readonly nowMs: number;
  /** True if the check reads all pages of the database and the checksums of all snapshots. */
  readonly isThorough: boolean;
  /** Called with the number of snapshots that have been read, and with the total number of snapshots. */
  readonly onProgress: (read: number, of: number) => void;
}

/** Returns a good outcome without a hint if the condition holds, and a bad outcome with the hint otherwise. */
export function graded(
  of: string,
  isWell: boolean,
  message: string,
  hint: string,
  otherwise: 'warning' | 'failure' = 'warning',
): CheckOutcome {
  return isWell ? { of, state: 'ok', message } : { of, state: otherwise, message, hint };
}

export function failureOf(of: string, error: unknown): CheckOutcome {
  const { message, hint } = error as Error & { hint?: string };
  return { of, state: 'failure', message: cleanLine(message), ...(hint && { hint }) };
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

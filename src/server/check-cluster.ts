import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadSecret } from '../access/secret.ts';
import type { SharedFile } from '../cluster/cluster-secret.ts';
import { STANDBY_HINT } from '../cluster/engine-errors.ts';
import {
  type ClusterReport,
  inspectCluster,
  type OtherPrimary,
  type OwnFiles,
  type SeenReplica,
} from '../cluster/inspect-cluster.ts';
import { CLOCK_MS_MAX } from '../cluster/join-cluster.ts';
import { cleanLine } from '../core/clean-text.ts';
import { authorityPath } from '../http/internal-tls.ts';
import type { SettingValues } from '../settings/config.ts';
import { SCHEMA } from '../store/folder/upgrade.ts';
import { MIRROR, placeOfMirror } from '../store/mirror-file.ts';
import { type CheckOutcome, failureOf, graded, isoTime } from './check-outcome.ts';
import { foreignSecretHint } from './stored-data.ts';

/** The age of the oldest write that a server lacks above which it is behind, ms. Servers say every two seconds where they are. */
const LAG_MS_MAX = 10_000;

/**
 * For what may only follow from the wait: a server that starts waits for its first write, and one of an earlier version for its lease and its
 * heartbeat.
 */
const AFTER_STANDBY_HINT = 'Mend the standby first, then run the check again. Servers that run go on by themselves.';

const COPY_TLS_HINT =
  'Copy the folder "tls" from the data folder of another server, without the file of the server, and start this one again.';

/** Checks the database that servers share, the other servers, and the files that all must share. */
export async function* checkCluster(settings: SettingValues): AsyncGenerator<CheckOutcome> {
  const { dataDir, tls } = settings;
  const authority = authorityPath(dataDir);
  let files: OwnFiles = tls === 'internal' && existsSync(authority) ? { authority: readFileSync(authority) } : {};
  try {
    const secret = existsSync(join(dataDir, 'secret')) ? loadSecret(dataDir) : undefined;
    files = { secret, ...files };
  } catch (error) {
    yield failureOf('secret', error);
  }
  let report: ClusterReport;
  try {
    report = await inspectCluster(settings, files, placeOfMirror(join(dataDir, MIRROR)));
  } catch (error) {
    yield failureOf('primary', error);
    return;
  }
  yield primary(report);
  for (const each of report.otherPrimaries) yield otherPrimary(report, each);
  const { awaitedStandby, leader } = report;
  if (awaitedStandby !== undefined) yield absentStandby(awaitedStandby);
  yield graded(
    'leader',
    leader !== undefined,
    leader === undefined ? 'no server leads, so no feed runs' : `${cleanLine(leader)} leads`,
    awaitedStandby === undefined
      ? 'Start a server. The log of a server that cannot lead says why (lead_obstructed).'
      : AFTER_STANDBY_HINT,
  );
  for (const each of report.replicas) yield replica(each, awaitedStandby !== undefined);
  const { secret, authority: ofTls } = report.standings;
  if ('secret' in files) yield sharedSecret(files, secret, foreignSecretHint(settings));
  if ('authority' in files) yield sharedAuthority(ofTls);
  const ms = Math.round(Math.abs(report.clockMs));
  yield graded(
    'clocks',
    ms <= CLOCK_MS_MAX,
    `that of this machine and that of the database differ by ${ms} ms`,
    'Synchronize both clocks by NTP. A server whose clock differs by more than two seconds gets no requests.',
    'failure',
  );
}

function primary({ host, timeline, head }: ClusterReport): CheckOutcome {
  return graded(
    'primary',
    head.schema >= SCHEMA,
    `${host}, timeline ${timeline}, schema ${head.schema}, for programs with a schema from ${head.leastReader} on`,
    `This program has schema ${SCHEMA}. A server of this version upgrades the tables when it starts.`,
  );
}

function otherPrimary({ host, timeline }: ClusterReport, other: OtherPrimary): CheckOutcome {
  const [newer, older] = other.timeline > timeline ? [other.host, host] : [host, other.host];
  return graded(
    'primary',
    false,
    `${other.host} is a primary, too, with timeline ${other.timeline}: what is written there, the others do not have`,
    `The servers use the newest timeline. Stop ${older}, and make it a standby of ${newer} (pg_rewind, or a new pg_basebackup).`,
  );
}

function absentStandby(names: string): CheckOutcome {
  return graded(
    'standby',
    false,
    `nothing can be stored, because the primary waits for a synchronous standby (${cleanLine(names)})`,
    STANDBY_HINT,
    'failure',
  );
}

function replica(
  { name, version, behind, lagMs, isReady, isSeen, sinceSeenMs }: SeenReplica,
  isBlocked: boolean,
): CheckOutcome {
  const lag = behind === 0 ? 'has all writes' : `${behind} writes behind, the oldest ${seconds(lagMs)} ago`;
  const state = isReady ? lag : 'does not have all data yet';
  return graded(
    'replica',
    isSeen && isReady && lagMs <= LAG_MS_MAX,
    `${cleanLine(name)}: version ${cleanLine(version)}, ${state}, seen ${seconds(sinceSeenMs)} ago`,
    isBlocked
      ? AFTER_STANDBY_HINT
      : isSeen
        ? 'Look at the log of the server, and at the disk of its data folder.'
        : 'The server has crashed, or cannot reach the database. Start it again.',
  );
}

type Standing = ClusterReport['standings'][SharedFile];

function sharedSecret({ secret }: OwnFiles, standing: Standing, hint: string): CheckOutcome {
  if (standing === undefined) return unregistered('secret');
  const { isValid, untilMs } = standing;
  if (secret === undefined)
    return graded('secret', false, 'it is missing, and the other servers have one', hint, 'failure');
  if (!isValid) return graded('secret', false, 'it is not that of the other servers', hint, 'failure');
  if (untilMs === null) return { of: 'secret', state: 'ok', message: 'it is that of the other servers' };
  return graded('secret', false, `it was rotated on another server, and is accepted until ${isoTime(untilMs)}`, hint);
}

function sharedAuthority(standing: Standing): CheckOutcome {
  if (standing === undefined) return unregistered('authority');
  const { isValid } = standing;
  const message = `it is ${isValid ? '' : 'not '}that of the other servers`;
  return graded('authority', isValid, message, COPY_TLS_HINT, 'failure');
}

function unregistered(file: SharedFile): CheckOutcome {
  return graded(file, false, 'no server has registered one', 'A server registers its own when it starts.');
}

function seconds(ms: number): string {
  return `${Math.max(0, Math.round(ms / 1_000))} s`;
}

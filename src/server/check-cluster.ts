import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SharedFile } from '../cluster/cluster-secret.ts';
import { type ClusterReport, inspectCluster, type SeenReplica } from '../cluster/inspect-cluster.ts';
import { CLOCK_MS_MAX } from '../cluster/join-cluster.ts';
import { cleanLine } from '../core/clean-text.ts';
import { authorityPath } from '../http/internal-tls.ts';
import type { SettingValues } from '../settings/config.ts';
import { SCHEMA } from '../store/folder/upgrade.ts';
import { type CheckOutcome, failureOf, graded, isoTime } from './check-outcome.ts';

/** The age of the oldest write that a server lacks above which it is behind, ms. Servers say every two seconds where they are. */
const LAG_MS_MAX = 10_000;

const COPY_HINT = 'Copy it from the data folder of another server, and start this one again.';

/** Checks the database that servers share, the other servers, and the files that all must share. */
export async function* checkCluster(settings: SettingValues): AsyncGenerator<CheckOutcome> {
  const { dataDir, tls } = settings;
  const files = {
    ...contentOf('secret', join(dataDir, 'secret')),
    ...(tls === 'internal' && contentOf('authority', authorityPath(dataDir))),
  };
  let report: ClusterReport;
  try {
    report = await inspectCluster(settings, files);
  } catch (error) {
    yield failureOf('primary', error);
    return;
  }
  yield primary(report);
  yield graded(
    'leader',
    report.leader !== undefined,
    report.leader === undefined ? 'no server leads, so no feed runs' : `${cleanLine(report.leader)} leads`,
    'Start a server. The log of a server that cannot lead says why (lead_obstructed).',
  );
  for (const each of report.replicas) yield replica(each);
  for (const [file, standing] of Object.entries(report.standings)) yield shared(file as SharedFile, standing);
  const ms = Math.round(Math.abs(report.clockMs));
  yield graded(
    'clocks',
    ms <= CLOCK_MS_MAX,
    `that of this machine and that of the database differ by ${ms} ms`,
    'Synchronize both clocks by NTP. A server whose clock differs by more than two seconds gets no requests.',
    'failure',
  );
}

function contentOf(file: SharedFile, path: string): Partial<Record<SharedFile, Uint8Array>> {
  return existsSync(path) ? { [file]: readFileSync(path) } : {};
}

function primary({ host, timeline, head }: ClusterReport): CheckOutcome {
  return graded(
    'primary',
    head.schema >= SCHEMA,
    `${host}, timeline ${timeline}, schema ${head.schema}, for programs with a schema from ${head.leastReader} on`,
    `This program has schema ${SCHEMA}. A server of this version upgrades the tables when it starts.`,
  );
}

function replica({ name, version, behind, lagMs, isReady, isSeen, sinceSeenMs }: SeenReplica): CheckOutcome {
  const lag = behind === 0 ? 'has all writes' : `${behind} writes behind, the oldest ${seconds(lagMs)} ago`;
  const state = isReady ? lag : 'does not have all data yet';
  return graded(
    'replica',
    isSeen && isReady && lagMs <= LAG_MS_MAX,
    `${cleanLine(name)}: version ${cleanLine(version)}, ${state}, seen ${seconds(sinceSeenMs)} ago`,
    isSeen
      ? 'Look at the log of the server, and at the disk of its data folder.'
      : 'The server has crashed, or cannot reach the database. Start it again.',
  );
}

function shared(file: SharedFile, standing: ClusterReport['standings'][SharedFile]): CheckOutcome {
  const of = file === 'secret' ? 'same secret' : 'authority';
  if (standing === undefined)
    return graded(of, false, 'no server has registered one', 'A server registers its own when it starts.');
  const { isValid, untilMs } = standing;
  if (!isValid) return graded(of, false, 'it is not that of the other servers', COPY_HINT, 'failure');
  const until = untilMs === null ? '' : `, accepted until ${isoTime(untilMs)}`;
  return graded(of, untilMs === null, `it is that of the other servers${until}`, COPY_HINT);
}

function seconds(ms: number): string {
  return `${Math.max(0, Math.round(ms / 1_000))} s`;
}

import { EngineAway, EngineRefused, REPLACED_HINT, replacement } from './engine-errors.ts';
import { PostgresSession, type SessionOptions } from './postgres-session.ts';
import type { StoreHost, StoreUrl } from './store-url.ts';

/** How long the other hosts may take after the first primary has answered, ms. */
const OTHERS_MS = 500;
/** The pause before a host that is no primary is asked again, while another one is silent, ms. */
const AGAIN_MS = 250;

/** The newest timeline that a process has seen of a system of Postgres. */
export interface KnownTimeline {
  readonly system: string;
  readonly timeline: number;
}

/**
 * Asks all hosts at once, and returns a session at the primary. If several hosts claim to be one, it takes the newest timeline: an old primary
 * that somebody has started again after a promotion has an older one. One of an older timeline than the known one does not count, because it
 * lacks what was written since. A host that starts, or is promoted, is found although another one stays silent. Rejects with `EngineAway` or
 * `EngineRefused`.
 */
export async function findPrimary(
  url: StoreUrl,
  options: SessionOptions,
  known?: KnownTimeline,
): Promise<PostgresSession> {
  const found: (PostgresSession | Error | undefined)[] = url.hosts.map(() => undefined);
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  let isDecided = false;
  let timer: NodeJS.Timeout | undefined;
  const ask = async (host: StoreHost, i: number): Promise<void> => {
    while (!isDecided) {
      const result = await PostgresSession.open(url, host, options).catch((error: Error) => error);
      if (isDecided && result instanceof PostgresSession) result.close();
      if (isDecided) return;
      const before = found[i];
      if (before instanceof PostgresSession) before.close();
      found[i] = result;
      if (!found.includes(undefined)) return resolve();
      if (isPrimary(result) && !isReplaced(result, known)) {
        timer ??= setTimeout(resolve, OTHERS_MS);
        return;
      }
      await Bun.sleep(AGAIN_MS);
    }
  };
  for (const [i, host] of url.hosts.entries()) void ask(host, i);
  await enough;
  clearTimeout(timer);
  isDecided = true;
  const primary = found
    .filter(isPrimary)
    .filter((each) => !isReplaced(each, known))
    .toSorted((a, b) => timelineOf(b) - timelineOf(a))[0];
  for (const each of found) if (each instanceof PostgresSession && each !== primary) each.close();
  if (primary === undefined) throw absenceOf(found, known);
  return primary;
}

export function timelineOf({ role }: PostgresSession): number {
  return role.timeline ?? 0;
}

export function isPrimary(result: PostgresSession | Error | undefined): result is PostgresSession {
  return result instanceof PostgresSession && result.role.kind === 'primary';
}

/** Returns whether another server was promoted in the place of a primary. */
export function isReplaced({ role }: PostgresSession, known: KnownTimeline | undefined): boolean {
  return role.timeline !== undefined && role.system === known?.system && role.timeline < known.timeline;
}

/** Returns the error for hosts without a primary. What somebody has to correct is more important than what can pass by itself. */
function absenceOf(found: readonly (PostgresSession | Error | undefined)[], known: KnownTimeline | undefined): Error {
  const errors = found.filter((each) => each instanceof Error);
  const refusal = errors.find((each) => each instanceof EngineRefused);
  if (refusal !== undefined) return refusal;
  const unknown = errors.find((each) => !(each instanceof EngineAway));
  if (unknown !== undefined) return unknown;
  const others = found.filter((each) => each instanceof PostgresSession);
  if (others.length === 0 && errors.length === 1) return errors[0]!;
  const stateOf = ({ host, role: { kind, timeline } }: PostgresSession) =>
    kind === 'primary'
      ? replacement(host.text, timeline ?? 0, known?.timeline ?? 0)
      : `${host.text} is ${kind === 'standby' ? 'a standby' : 'read-only'}`;
  const states = found.map((each) => (each instanceof PostgresSession ? stateOf(each) : each!.message));
  const message = `no primary among the hosts of --store: ${states.join(', ')}`;
  if (others.length === 0)
    return new EngineAway('unreachable', message, 'Start Postgres, or correct --store.', { cause: errors[0] });
  if (others.some(isPrimary)) return new EngineAway('no-primary', message, REPLACED_HINT);
  return new EngineAway('no-primary', message, 'Promote a standby, or name the primary in --store, too.');
}

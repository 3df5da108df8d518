import { fstatSync } from 'node:fs';
import { configureSync, getJsonLinesFormatter, getLogger, type LogRecord } from '@logtape/logtape';
import { cleanLine, escapeInvisible } from './clean-text.ts';
import { LOG_LEVELS, type LogLevel, type Observation, type Observe } from './events.ts';

const LEVEL: Record<Observation['kind'], LogLevel> = {
  request_answered: 'debug',
  request_failed: 'error',
  session_opened: 'debug',
  session_closed: 'debug',
  stream_opened: 'debug',
  stream_closed: 'debug',
  tool_failed: 'error',
  chain_stored: 'debug',
  rows_refused: 'warning',
  data_refused: 'warning',
  ingest_polled: 'debug',
  ingest_failed: 'error',
  past_filling: 'info',
  past_filled: 'info',
  past_failed: 'error',
  feed_connection: 'warning',
  data_full: 'warning',
  data_has_room: 'info',
  old_removed: 'info',
  retention_waits: 'warning',
  retention_failed: 'error',
  tape_packed: 'info',
  packing_failed: 'error',
  levels_failed: 'error',
  files_kept: 'warning',
  clock_set_back: 'warning',
  clock_set_forward: 'warning',
  event_loop_blocked: 'warning',
  compiler_off: 'warning',
  snapshot_damaged: 'error',
  data_upgraded: 'info',
  engine_away: 'warning',
  engine_back: 'info',
  mirror_refilled: 'warning',
  writes_lost: 'error',
  mirror_failed: 'error',
  lead_began: 'info',
  lead_ended: 'warning',
  lead_obstructed: 'warning',
  lead_failed: 'error',
  database_gone: 'error',
  database_damaged: 'error',
  warm_up_failed: 'warning',
  secret_foreign: 'warning',
  key_refused: 'info',
  keys_refused: 'info',
  manager_unreachable: 'warning',
  traces_unsent: 'warning',
  audited: 'info',
  operations_served: 'info',
  operations_open: 'warning',
  certificate_used: 'info',
  names_uncertified: 'warning',
  certificate_refused: 'error',
  certificate_expiring: 'warning',
  reloaded: 'info',
  data_folder_open: 'warning',
  connections_ended: 'warning',
  connections_unwatched: 'warning',
  few_descriptors: 'warning',
  setting_unknown: 'warning',
  started: 'info',
  loading: 'info',
  loaded: 'info',
  stopping: 'info',
  stop_forced: 'warning',
};

/** The priorities of the journal, as in syslog(3). */
const PRIORITY: Record<LogRecord['level'], number> = { trace: 7, debug: 7, info: 6, warning: 4, error: 3, fatal: 2 };

/**
 * Returns whether stderr is connected to the journal of systemd. `stream` is the value of JOURNAL_STREAM: the device and the inode of the
 * journal's stream. A process with a redirected stderr inherits the variable, but not the stream.
 */
function isJournal(stream: string | undefined): boolean {
  if (!stream) return false;
  try {
    const { dev, ino } = fstatSync(2, { bigint: true });
    return stream === `${dev}:${ino}`;
  } catch {
    return false;
  }
}

/** Returns what precedes an error on stderr: its priority if stderr is the journal of systemd, and otherwise nothing. */
export function errorPriority(): string {
  return isJournal(process.env.JOURNAL_STREAM) ? `<${PRIORITY.error}>` : '';
}

/** Returns one line for people: local time, level (except INFO), the observation and its fields, cleaned. The stack of an error follows. */
function lineForPeople({ timestamp, level, rawMessage, properties }: LogRecord): string {
  const time = new Date(timestamp).toTimeString().slice(0, 8);
  const label = level === 'info' ? '' : `${level.toUpperCase()}  `;
  const { error, ...fields } = properties;
  const shown = Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(
      ([name, value]) => `  ${name}=${cleanLine(typeof value === 'object' ? JSON.stringify(value) : String(value))}`,
    );
  const stack =
    error === undefined
      ? []
      : String(error)
          .split('\n')
          .map((line) => `\n  ${cleanLine(line)}`);
  return `${time}  ${label}${String(rawMessage).replaceAll('_', ' ')}${shown.join('')}${stack.join('')}\n`;
}

/**
 * Writes observations to stderr, from the level `lowestLevel` upwards. stdout is reserved for output that programs read. With `accessLog`,
 * every answered request is logged at the level `info`. On a terminal, the lines are for people. Elsewhere, each line is a JSON object. If
 * stderr is the journal of systemd, each line begins with a priority such as `<4>`, which the journal removes.
 */
export function createLog(lowestLevel: LogLevel, { accessLog = false } = {}): Observe {
  const jsonLine = getJsonLinesFormatter({ properties: 'flatten' });
  const json = (record: LogRecord) => escapeInvisible(jsonLine(record));
  const format = process.stderr.isTTY
    ? lineForPeople
    : isJournal(process.env.JOURNAL_STREAM)
      ? (record: LogRecord) => `<${PRIORITY[record.level]}>${json(record)}`
      : json;
  configureSync({
    reset: true,
    sinks: { stderr: (record) => process.stderr.write(format(record)) },
    loggers: [
      { category: 'zomma', lowestLevel, sinks: ['stderr'] },
      { category: ['logtape', 'meta'], lowestLevel: 'error', sinks: ['stderr'] },
    ],
  });
  const logger = getLogger('zomma');
  const level = { ...LEVEL, ...(accessLog && { request_answered: 'info' as const }) };
  const kinds = Object.keys(LEVEL) as Observation['kind'][];
  const ignores = new Set(kinds.filter((kind) => LOG_LEVELS.indexOf(level[kind]) < LOG_LEVELS.indexOf(lowestLevel)));
  const observe: Observe = ({ kind, ...properties }) => {
    if (ignores.has(kind)) return;
    logger[level[kind]](
      kind,
      'error' in properties ? { ...properties, error: describe(properties.error) } : properties,
    );
  };
  return Object.assign(observe, { ignores });
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

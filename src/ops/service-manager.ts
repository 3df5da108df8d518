import type { Observe } from '../core/events.ts';
import { openLibc } from '../core/libc.ts';

/** The connection to systemd, by sd_notify(3). The C library sends the messages, because the runtime has no Unix datagram sockets. */
export type ServiceManager = ReturnType<typeof connectServiceManager>;

/** The environment variables with which systemd tells a service where to send messages and how often the watchdog expects them. */
export interface ManagerEnv {
  readonly NOTIFY_SOCKET?: string | undefined;
  readonly WATCHDOG_USEC?: string | undefined;
  readonly WATCHDOG_PID?: string | undefined;
}

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
/** With this flag, the system drops a message if the receiver has no room. Without the flag, the event loop would wait for room. */
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
const CLOCK_MONOTONIC = 1;
/** Maximum length of the path in struct sockaddr_un, bytes. */
const PATH_BYTES_MAX = 108;

/**
 * Connects to the service manager, and reports to its watchdog twice in each interval from the event loop, so that systemd restarts a
 * process with a blocked one. Reports once if no message can be sent, because systemd would abort the start of a unit with `Type=notify`.
 */
export function connectServiceManager(env: ManagerEnv, observe: Observe) {
  const send = openSender(env.NOTIFY_SOCKET ?? '');
  let isRefused = false;
  const tell = (...assignments: readonly string[]): void => {
    if (send?.(assignments.join('\n')) || isRefused) return;
    isRefused = true;
    observe({
      kind: 'manager_unreachable',
      reason: send ? 'A message to NOTIFY_SOCKET was refused.' : 'The runtime may not call the C library.',
    });
  };
  const watchdogUs = watchdogInterval(env);
  const answerWatchdog = () => tell('WATCHDOG=1');
  const timer = watchdogUs ? setInterval(answerWatchdog, watchdogUs / 2_000).unref() : undefined;
  let extension: ReturnType<typeof setInterval> | undefined;
  let isReady = false;
  return {
    /**
     * Reports the present step of the start, and requests another `ms` milliseconds. Repeats the request until the start is complete. So a
     * start may take any time if the event loop runs at least once in `ms` milliseconds.
     */
    starting(status: string, ms: number) {
      const ask = () => tell(`STATUS=${status}`, `EXTEND_TIMEOUT_USEC=${ms * 1_000}`);
      clearInterval(extension);
      extension = setInterval(ask, ms / 3).unref();
      ask();
    },
    ready(status: string) {
      isReady = true;
      clearInterval(extension);
      tell('READY=1', `STATUS=${status}`);
    },
    /** Reports the start of a reload, calls `reload`, and reports the end of the reload. Sends nothing while the service is not ready. */
    async reloading(reload: () => Promise<void>) {
      if (!isReady) return reload();
      tell('RELOADING=1', `MONOTONIC_USEC=${monotonicUs()}`);
      await reload();
      // If the service has begun to stop during the reload, it is no longer ready.
      if (isReady) tell('READY=1');
    },
    /** Reports that the service is stopping. After this report, `starting` and `reloading` send nothing. */
    stopping() {
      isReady = false;
      clearInterval(extension);
      tell('STOPPING=1', 'STATUS=Stopping');
    },
    close() {
      clearInterval(extension);
      clearInterval(timer);
    },
  };
}

/** Returns the interval of the watchdog, µs. Undefined if systemd does not watch this process. */
function watchdogInterval({ WATCHDOG_USEC, WATCHDOG_PID }: ManagerEnv): number | undefined {
  if (WATCHDOG_PID !== undefined && WATCHDOG_PID !== String(process.pid)) return undefined;
  const interval = Number(WATCHDOG_USEC);
  return interval > 0 ? interval : undefined;
}

/**
 * Returns a function that sends a datagram to a Unix socket. The function returns whether the socket has accepted the datagram. `name` is a
 * path, or a name in the abstract namespace with `@` in front. Returns undefined if the C library cannot be called.
 */
function openSender(name: string): ((message: string) => boolean) | undefined {
  const libc = openLibc({
    socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
    sendto: { args: ['i32', 'ptr', 'u64', 'i32', 'ptr', 'u32'], returns: 'i64' },
    close: { args: ['i32'], returns: 'i32' },
  });
  if (!libc) return undefined;
  const address = socketAddress(name);
  return (message) => {
    if (!address) return false;
    const descriptor = libc.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return false;
    const bytes = Buffer.from(message);
    const sent = libc.sendto(
      descriptor,
      bytes,
      bytes.byteLength,
      MSG_DONTWAIT | MSG_NOSIGNAL,
      address,
      address.byteLength,
    );
    libc.close(descriptor);
    return Number(sent) === bytes.byteLength;
  };
}

/** Returns struct sockaddr_un for a name. Returns undefined if the name is too long, or is neither a path nor abstract. */
export function socketAddress(name: string): Uint8Array | undefined {
  const path = Buffer.from(name);
  if (!/^[/@]./.test(name) || path.byteLength >= PATH_BYTES_MAX) return undefined;
  const isAbstract = name.startsWith('@');
  if (isAbstract) path[0] = 0;
  const address = new Uint8Array(2 + path.byteLength + (isAbstract ? 0 : 1));
  new DataView(address.buffer).setUint16(0, AF_UNIX, true);
  address.set(path, 2);
  return address;
}

/** Returns the time of the system's monotonic clock, µs. systemd uses the same clock. */
function monotonicUs(): bigint {
  const libc = openLibc({ clock_gettime: { args: ['i32', 'ptr'], returns: 'i32' } });
  const time = new BigInt64Array(2);
  libc?.clock_gettime(CLOCK_MONOTONIC, time);
  return time[0]! * 1_000_000n + time[1]! / 1_000n;
}

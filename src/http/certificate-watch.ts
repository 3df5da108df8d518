import { OperatorError } from '../core/errors.ts';
import type { Observe } from '../core/events.ts';
import type { Listening } from './listen.ts';
import { readTls, type TlsFiles, type TlsPair, versionOfFiles } from './tls.ts';

/** Time between two checks of the files, ms. */
const LOOK_MS = 2_000;
/** A certificate that expires within this time is reported at the start and once a day, ms. */
const WARN_BEFORE_MS = 30 * 86_400_000;
const DAY_MS = 86_400_000;

export type CertificateWatch = ReturnType<typeof watchCertificate>;

export interface CertificateWatchDeps {
  readonly files: TlsFiles;
  readonly pair: TlsPair;
  readonly listening: Pick<Listening, 'replaceTls'>;
  readonly observe: Observe;
  readonly nowMs: () => number;
}

/**
 * Watches the files of a certificate. When the files have changed, uses the new pair of certificate and key for new connections. If the new
 * pair cannot be used, reports the problem and keeps the present pair. Also reports a certificate that is about to expire.
 */
export function watchCertificate({ files, pair, listening, observe, nowMs }: CertificateWatchDeps) {
  let present = pair;
  let seen = versionOfFiles(files);
  let warnedMs = Number.NEGATIVE_INFINITY;

  const report = (): void =>
    observe({
      kind: 'certificate_used',
      subject: present.subject,
      sha256: present.sha256,
      not_after: new Date(present.notAfterMs).toISOString(),
    });

  const warnOfExpiry = (): void => {
    const left = present.notAfterMs - nowMs();
    if (left > WARN_BEFORE_MS || nowMs() - warnedMs < DAY_MS) return;
    warnedMs = nowMs();
    observe({ kind: 'certificate_expiring', subject: present.subject, days: Math.floor(left / DAY_MS) });
  };

  const reload = (): void => {
    seen = versionOfFiles(files);
    try {
      const next = readTls(files);
      if (next.cert === present.cert && next.key === present.key && next.clientCa === present.clientCa) return;
      listening.replaceTls(next);
      present = next;
      warnedMs = Number.NEGATIVE_INFINITY;
      report();
      warnOfExpiry();
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      observe({ kind: 'certificate_refused', reason: error.message, hint: error.hint });
    }
  };

  report();
  warnOfExpiry();
  let before = seen;
  const timer = setInterval(() => {
    const version = versionOfFiles(files);
    // During a replacement, one file may be missing, or one file may be old and the other new. So the new pair is used only if the files
    // stay unchanged until the next check.
    if (version !== '' && version !== seen && version === before) reload();
    before = version;
    warnOfExpiry();
  }, LOOK_MS);
  return {
    /** Reads the files again, even if they have not changed. */
    reload,
    /** The expiry of the certificate in use, ms since the epoch. */
    notAfterMs: () => present.notAfterMs,
    stop: () => clearInterval(timer),
  };
}

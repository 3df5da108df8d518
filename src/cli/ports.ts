import type { Access } from '../access/access.ts';
import type { AuditEntry } from '../access/audit.ts';
import type { MemberStore } from '../access/members.ts';
import type { SettingError } from '../core/errors.ts';
import type { Delivery, LoadedFile } from '../market/feed.ts';
import type { FeedLedger } from '../market/feed-ledger.ts';
import type { MarketStore } from '../market/store.ts';
import type { Context } from '../operations/engine/operation.ts';
import type { SettingValues, ValuesIn } from '../settings/config.ts';

type FolderSettings = Pick<SettingValues, 'dataDir'>;

export type StdioSettings = Omit<ValuesIn<'data' | 'feeds' | 'mcp' | 'log'>, 'feed'> & {
  readonly feed: string | undefined;
};

/** A reason why a server cannot start with its settings, and its subject in one or two words. */
export interface SettingFault {
  readonly of: string;
  readonly error: SettingError;
}

/** The outcome of one check of an installation. */
export interface CheckOutcome {
  /** The subject of the check, in one or two words. */
  readonly of: string;
  readonly state: 'ok' | 'warning' | 'failure';
  readonly message: string;
  /** The recommended action, if there is one. */
  readonly hint?: string;
}

/** The contents of a backup. */
export interface BackupManifest {
  readonly version: string;
  readonly schema: number;
  readonly made_at: string;
  readonly files: Readonly<Record<string, { readonly bytes: number; readonly sha256: string }>>;
  /** Number of rows in each table. */
  readonly rows: Readonly<Record<string, number>>;
}

/**
 * The certificate of a certificate authority: file, PEM text, SHA-256 in hex with colons, expiry in ms since the epoch, and the host names
 * that it may sign. `names` is null if it may sign every name.
 */
export interface AuthorityCertificate {
  readonly path: string;
  readonly pem: string;
  readonly fingerprint: string;
  readonly notAfterMs: number;
  readonly names: readonly string[] | null;
}

/** The functions of the composition root that the command line calls. */
export interface Ports {
  /** The wall clock, ms since the epoch. */
  readonly nowMs: () => number;
  /** Returns the version, the commit and the schema of the database, for example `0.2.0 (1a2b3c4, schema 9)`. */
  versionLine(): Promise<string>;
  /** Returns everything that keeps a server from starting with these settings, whose values are valid. */
  settingFaults(settings: SettingValues): Promise<readonly SettingFault[]>;
  /** Runs the service until SIGTERM or SIGINT. `demo` adds the demo member and prints its key. */
  serve(
    settings: ValuesIn<'data' | 'feeds' | 'server' | 'mcp' | 'log'>,
    options: { readonly demo: boolean },
  ): Promise<void>;
  /**
   * Serves MCP over standard input and output with the data of this machine, until the client disconnects. Without a feed, the tools use
   * the stored data, or the simulated market if nothing is stored.
   */
  serveStdio(settings: StdioSettings): Promise<void>;
  /** Relays MCP messages between standard input and output and a running server, until the client disconnects. */
  bridge(server: { readonly url: URL; readonly key: string }): Promise<void>;
  /** Yields the market data of one file in one or more parts (`Delivery`). A tape has several parts. */
  readFile(path: string): AsyncIterable<Delivery>;
  /**
   * Stores the market data of files and folders in a data folder, which a server may use at the same time. For each path, returns the files
   * that contain market data. Calls `onProgress` with the bytes read so far, the total bytes, and the rows read so far. If a path does not
   * exist, throws `OperatorError` before anything is loaded.
   */
  load(
    settings: FolderSettings & Pick<SettingValues, 'dataMax'>,
    paths: readonly string[],
    onProgress: (bytes: number, ofBytes: number, rows: number) => void,
  ): Promise<readonly (readonly LoadedFile[])[]>;
  /** Calls `work` with the stored market data of a data folder. A server may use the folder at the same time. */
  withMarket<T>(settings: ValuesIn<'data'>, work: (context: Context) => T): Promise<T>;
  /** Checks an installation. Yields the outcome of each check. See `CheckOptions` of src/server/checks.ts. */
  check(options: {
    readonly settings: SettingValues;
    readonly isThorough: boolean;
    readonly onProgress: (read: number, of: number) => void;
  }): AsyncIterable<CheckOutcome>;
  /**
   * Backs up a data folder to a new folder. With a passphrase, the backup includes the encrypted secret. A server may run. `isRecorded` is
   * false if the data folder does not know of the backup.
   */
  backup(
    settings: FolderSettings,
    to: string,
    passphrase: string | undefined,
  ): Promise<{ readonly manifest: BackupManifest; readonly isRecorded: boolean }>;
  /** Restores a backup into a temporary folder, to check the backup, and compares the backup with its manifest. */
  rehearseRestore(
    from: string,
    proof: FolderSettings & { readonly passphrase: string | undefined },
  ): Promise<{ readonly manifest: BackupManifest; readonly isVerified: boolean }>;
  /** Restores a backup into a data folder without data. If nothing proves who made the backup, `isUnverified` must be true. */
  restore(
    from: string,
    options: FolderSettings & { readonly passphrase: string | undefined; readonly isUnverified: boolean },
  ): Promise<{ readonly manifest: BackupManifest; readonly hasSecret: boolean }>;
  /** Returns the backups in a folder, the oldest first. */
  backupsIn(folder: string): Promise<readonly string[]>;
  /**
   * Removes data older than its retention, and frees its disk space. Returns the removed amounts, and the size of the database in bytes
   * before and after the removal.
   */
  compact(
    settings: FolderSettings & Pick<SettingValues, 'keepChains' | 'keepIntraday' | 'keepPrints' | 'keepLevels'>,
  ): Promise<{
    readonly removed: { readonly prints: number; readonly chains: number; readonly levels: number };
    readonly before: number;
    readonly after: number;
  }>;
  /** Upgrades the database of a data folder. Returns the schemas before and after the upgrade, and the path of the copy. */
  upgrade(settings: FolderSettings): Promise<{ readonly from: number; readonly to: number; readonly copy: string }>;
  /** Restores the database to its state before the last upgrade. Returns the restored schema, and the path of the replaced database. */
  undoUpgrade(settings: FolderSettings): Promise<{ readonly schema: number; readonly kept: string }>;
  /** Returns the audit entries of a data folder since a time (ms since the epoch), in time order. */
  audit(settings: FolderSettings, sinceMs: number): Promise<readonly AuditEntry[]>;
  /** Returns the certificate authority that `--tls internal` has created in a data folder. */
  internalAuthority(settings: FolderSettings): Promise<AuthorityCertificate>;
  /** Calls `work` with the store of a data folder, which must exist. A server may use the folder at the same time. */
  withStore<T>(
    settings: FolderSettings,
    mode: 'read' | 'write',
    work: (store: MarketStore & Pick<FeedLedger, 'forgetFeed'>) => T,
  ): Promise<T>;
  /** Calls `work` with the members of a data folder, which must exist. A server may use the folder at the same time. */
  withMembers<T>(
    settings: FolderSettings,
    mode: 'read' | 'write',
    work: (access: Access, members: MemberStore) => T,
  ): Promise<T>;
}

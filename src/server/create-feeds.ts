import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SettingError, SettingFaults } from '../core/errors.ts';
import { createCboeFeed } from '../feeds/cboe/cboe-feed.ts';
import { createFilesFeed } from '../feeds/files/files-feed.ts';
import { fileJournal, type JournalStorage } from '../feeds/files/journal-storage.ts';
import type { ProviderOptions } from '../feeds/http/provider-client.ts';
import { createMassiveFeed } from '../feeds/massive/massive-feed.ts';
import { createSimulatedFeed } from '../feeds/simulated/simulated-feed.ts';
import { createThetadataFeed } from '../feeds/thetadata/thetadata-feed.ts';
import { createTradierFeed } from '../feeds/tradier/tradier-feed.ts';
import { type Feed, isLocal } from '../market/feed.ts';
import type { Universe } from '../market/universe.ts';
import { SETTINGS, type SettingName, type SettingValues, type ValuesIn } from '../settings/config.ts';

/** The settings for the creation of feeds. `dataDir` is included, because the `files` feed has its journal in the data folder. */
export type FeedSettings = Pick<SettingValues, 'dataDir'> & ValuesIn<'feeds'>;

/** Returns the stored checkpoints of the `files` feed by key. The feed calls this function at its first poll. */
type StoredCheckpoints = () => ReadonlyMap<string, string>;

/** Creates the feeds that `settings.feed` lists. Throws `SettingError`, or `SettingFaults` for several, if any is unusable. */
export function createFeeds(
  settings: FeedSettings,
  universe: Universe,
  checkpoints: StoredCheckpoints,
  journal: JournalStorage = fileJournal(join(settings.dataDir, 'reading.json')),
): Feed[] {
  const faults: SettingError[] = [];
  const feeds = settings.feed.split(BETWEEN_FEEDS).flatMap((feed) => {
    try {
      return [withPace(createFeed({ ...settings, feed: feed.trim() }, universe, checkpoints, journal), settings)];
    } catch (error) {
      if (!(error instanceof SettingError)) throw error;
      faults.push(error);
      return [];
    }
  });
  if (faults.length > 0) throw faults.length === 1 ? faults[0]! : new SettingFaults(faults);
  const duplicate = feeds.find(({ name }, i) => feeds.findIndex((each) => each.name === name) !== i);
  if (duplicate) throw new SettingError(`the feed "${duplicate.name}" is named twice`, 'Name each kind of feed once.');
  if (feeds.length > 1 && feeds.some(({ simulated }) => simulated)) {
    throw new SettingError(
      'the feed "simulated" cannot be combined with other feeds',
      'Use "simulated" alone, or remove it from --feed.',
    );
  }
  return feeds;
}

/** Returns the drop folder that `--feed` names, or undefined. */
export function dropFolderOf(feed: string): string | undefined {
  const files = feed.split(BETWEEN_FEEDS).find((each) => each.trim().startsWith('files:'));
  return files?.trim().slice('files:'.length);
}

/** Applies `--feed-every` and `--feed-hours` to a feed over a network. Returns any other feed unchanged. */
function withPace(feed: Feed, { feedEvery, feedHours }: FeedSettings): Feed {
  if (isLocal(feed)) return feed;
  const everyMs = feedEvery === undefined ? feed.pace.everyMs : feedEvery * 1000;
  return { ...feed, pace: { ...feed.pace, hours: feedHours, everyMs } };
}

/** The settings that are credentials of a provider. */
type CredentialName = {
  [Name in SettingName]: (typeof SETTINGS)[Name] extends { readonly provider: string } ? Name : never;
}[SettingName];

/** The options of every provider: the tickers, and the operator's maximum requests per minute, if set. */
type ProviderDeps = Pick<ProviderOptions, 'tickers' | 'ratePerMinute'>;

/** The providers by the name of their feed. A new provider needs a row in this table and settings in `SETTINGS`. */
export const PROVIDERS: Readonly<Record<string, (deps: ProviderDeps, settings: FeedSettings) => Feed>> = {
  cboe: (deps, { cboeUrl }) => createCboeFeed({ ...deps, baseUrl: cboeUrl }),
  thetadata: (deps, { thetadataUrl }) => createThetadataFeed({ ...deps, baseUrl: thetadataUrl }),
  tradier: (deps, settings) =>
    createTradierFeed({ ...deps, baseUrl: settings.tradierUrl, token: credential('tradierToken', settings) }),
  massive: (deps, settings) =>
    createMassiveFeed({
      ...deps,
      baseUrl: settings.massiveUrl,
      socketUrl: settings.massiveSocketUrl,
      key: credential('massiveKey', settings),
    }),
};

/** A comma that is followed by a feed's name separates two feeds. Any other comma is part of a folder's name, such as `files:/srv/a,b`. */
const BETWEEN_FEEDS = new RegExp(`,(?=\\s*(?:files:|(?:simulated|${Object.keys(PROVIDERS).join('|')})\\s*(?:,|$)))`);

/**
 * Creates the feed that `settings.feed` names. Throws `SettingError` if no feed has this name, or if the credential or the drop folder is
 * unusable. The drop folder must exist, and must not overlap the folder of `--set-aside`.
 */
function createFeed(
  settings: FeedSettings,
  universe: Universe,
  checkpoints: StoredCheckpoints,
  journal: JournalStorage,
): Feed {
  const { feed, seed, simClock, feedRate, setAside, keepFiles } = settings;
  if (feed === 'simulated') return createSimulatedFeed({ seed, universe, clock: simClock });
  if (feed.startsWith('files:')) {
    const dir = existingFolder(feed.slice('files:'.length));
    return createFilesFeed(dir, {
      checkpoints,
      setAside: setAside && folderApart(setAside, dir),
      keepDays: keepFiles,
      journal,
    });
  }
  if (Object.hasOwn(PROVIDERS, feed)) {
    return PROVIDERS[feed]!({ tickers: [...universe.tickers], ratePerMinute: feedRate }, settings);
  }
  throw new SettingError(
    `"${feed}" is not a feed`,
    `Use simulated, files:DIR with the folder of your option chains, or a provider: ${Object.keys(PROVIDERS).join(', ')}.`,
  );
}

/** Returns a credential. Throws `SettingError` if it is missing, or has spaces or characters other than printable ASCII. */
function credential(name: CredentialName, settings: FeedSettings): string {
  const { env, provider } = SETTINGS[name];
  const value = settings[name]?.trim() ?? '';
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  const problem = value === '' ? 'is not set' : 'is not a credential: it contains spaces or special characters';
  throw new SettingError(
    `${env} ${problem}`,
    `Set ${env} in the environment of the service, or ${env}_FILE to a file with it. The feed "${provider}" sends this credential to its provider.`,
  );
}

/** Returns the path of a folder. Throws `SettingError` if it is missing. The feed only reports a folder that disappears later. */
function existingFolder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw new SettingError(`"${path}" is not a folder`, 'Use files:DIR with the folder of your option chains.');
}

/**
 * Creates the folder `path` of `--set-aside` if it is missing. Throws `SettingError` if it is or contains the drop folder `from`, to which
 * moved files could return, or lies within it, where the feed would read moved files again.
 */
function folderApart(path: string, from: string): string {
  mkdirSync(path, { recursive: true });
  const [a, b] = [`${realpathSync(path)}/`, `${realpathSync(from)}/`];
  if (!a.startsWith(b) && !b.startsWith(a)) return path;
  throw new SettingError(
    `the folders "${path}" and "${from}" overlap`,
    'For --set-aside, use a folder that neither contains the drop folder nor lies within it.',
  );
}

import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SETTINGS } from './config.ts';
import { OperatorError } from './errors.ts';
import { createCboeFeed } from './feeds/cboe/cboe-feed.ts';
import { createFilesFeed } from './feeds/files/files-feed.ts';
import { createMassiveFeed } from './feeds/massive/massive-feed.ts';
import { createSimulatedFeed } from './feeds/simulated/simulated-feed.ts';
import { createTradierFeed } from './feeds/tradier/tradier-feed.ts';
import { type Feed, isAtHand } from './market/feed.ts';
import type { Universe } from './market/universe.ts';

export interface FeedSettings {
  /** The `files` feed records here which file it is reading. */
  readonly dataDir: string;
  readonly feed: string;
  readonly seed: string;
  readonly feedRate?: string | undefined;
  readonly feedEvery?: string | undefined;
  readonly feedHours?: string | undefined;
  readonly cboeUrl?: string;
  readonly tradierUrl?: string;
  readonly massiveUrl?: string;
  readonly massiveSocketUrl?: string;
  readonly setAside?: string | undefined;
  readonly dataMax?: string | undefined;
}

/** Returns the stored checkpoints of the `files` feed. The feed calls it at its first poll. */
type Remembered = () => ReadonlyMap<string, string>;

/**
 * Creates the feeds that `settings.feed` names, separated by commas. Throws `OperatorError` if a feed cannot be created, or if the feeds
 * cannot be combined.
 */
export function createFeeds(settings: FeedSettings, universe: Universe, remembered: Remembered): Feed[] {
  const feeds = settings.feed
    .split(BETWEEN_FEEDS)
    .map((feed) => paced(createFeed({ ...settings, feed: feed.trim() }, universe, remembered), settings));
  const twice = feeds.find(({ name }, at) => feeds.findIndex((each) => each.name === name) !== at);
  if (twice) throw new OperatorError(`there are two feeds ${twice.name}`, 'Name each kind of feed once.');
  if (feeds.length > 1 && feeds.some(({ simulated }) => simulated)) {
    throw new OperatorError(
      'the feed "simulated" cannot be combined with other feeds',
      'Use "simulated" alone, or leave it out.',
    );
  }
  return feeds;
}

/** Applies `--feed-every` and `--feed-hours` to a feed that is polled over a network. Other feeds are returned unchanged. */
function paced(feed: Feed, { feedEvery, feedHours = 'session' }: FeedSettings): Feed {
  if (feedHours !== 'session' && feedHours !== 'always') {
    throw new OperatorError(`--feed-hours "${feedHours}" is not known`, 'Use --feed-hours session or always.');
  }
  const every = feedEvery === undefined ? undefined : wholeNumber(feedEvery, '--feed-every');
  if (every === 0) throw new OperatorError('--feed-every is 0', 'Use 1 or more seconds, e.g. --feed-every 60.');
  if (isAtHand(feed)) return feed;
  const everyMs = every === undefined ? feed.pace.everyMs : every * 1000;
  return { ...feed, pace: { ...feed.pace, hours: feedHours, everyMs } };
}

/** A comma between two feeds. A comma in the name of a folder does not match. */
const BETWEEN_FEEDS = /,(?=\s*[a-z]+(?::|\s*(?:,|$)))/;

/** Throws `OperatorError` if no feed has this name, if its folder does not exist, or if its credential is missing. */
function createFeed(settings: FeedSettings, universe: Universe, remembered: Remembered): Feed {
  const { feed, seed, feedRate, setAside } = settings;
  if (feed === 'simulated') return createSimulatedFeed({ seed: wholeNumber(seed, '--seed'), universe });
  const asked = { tickers: [...universe.tickers], ratePerMinute: feedRate === undefined ? undefined : rate(feedRate) };
  const urlOf = (name: 'cboeUrl' | 'tradierUrl' | 'massiveUrl' | 'massiveSocketUrl') =>
    settings[name] ?? SETTINGS[name].default;
  if (feed === 'cboe') return createCboeFeed({ ...asked, baseUrl: urlOf('cboeUrl') });
  if (feed === 'tradier') {
    return createTradierFeed({ ...asked, baseUrl: urlOf('tradierUrl'), token: credential('tradierToken', feed) });
  }
  if (feed === 'massive') {
    const [baseUrl, socketUrl] = [urlOf('massiveUrl'), urlOf('massiveSocketUrl')];
    return createMassiveFeed({ ...asked, baseUrl, socketUrl, key: credential('massiveKey', feed) });
  }
  if (feed.startsWith('files:')) {
    const dir = existingFolder(feed.slice('files:'.length));
    return createFilesFeed(dir, {
      remembered,
      setAside: setAside && folderApart(setAside, dir),
      journal: join(settings.dataDir, 'reading.json'),
    });
  }
  throw new OperatorError(
    `"${feed}" is not a feed`,
    'Use simulated, files:DIR with the folder of your option chains, cboe, tradier or massive.',
  );
}

/**
 * Reads a credential from the environment, because every user of the machine can see a command line. Throws `OperatorError` if the
 * credential is missing, or has characters that no header can carry.
 */
function credential(name: 'tradierToken' | 'massiveKey', feed: string): string {
  const { env } = SETTINGS[name];
  const value = process.env[env]?.trim() ?? '';
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  const fault = value === '' ? 'is not set' : 'is not a credential: it contains spaces or special characters';
  throw new OperatorError(
    `${env} ${fault}`,
    `Set it in the environment of the service. The feed "${feed}" sends it to its provider.`,
  );
}

function rate(text: string): number {
  const value = wholeNumber(text, '--feed-rate');
  if (value > 0) return value;
  throw new OperatorError('--feed-rate is not a rate', 'Use 1 or more requests per minute, e.g. --feed-rate 60.');
}

/**
 * Throws `OperatorError` if the folder does not exist, because a path that is wrong at the start is probably a typing error. If the folder
 * disappears later, the feed reports it and continues to poll.
 */
function existingFolder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw new OperatorError(`"${path}" is not a folder`, 'Use files:DIR with the folder of your option chains.');
}

/**
 * Creates the folder if it does not exist. Throws `OperatorError` if one of the two folders contains the other: the feed would find the
 * moved files again.
 */
function folderApart(path: string, from: string): string {
  mkdirSync(path, { recursive: true });
  const [a, b] = [`${realpathSync(path)}/`, `${realpathSync(from)}/`];
  if (!a.startsWith(b) && !b.startsWith(a)) return path;
  throw new OperatorError(
    `the folders "${path}" and "${from}" overlap`,
    'Use a folder outside the drop folder for --set-aside.',
  );
}

function wholeNumber(text: string, flag: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new OperatorError(`${flag} is not a whole number`, `Use a number from 0 to 999999999, e.g. ${flag} 1.`);
}

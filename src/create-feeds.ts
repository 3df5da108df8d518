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
  /** Where the feed of files writes down what it is reading. */
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

/** What the feed of files has read before, asked once it polls. */
type Remembered = () => ReadonlyMap<string, string>;

/** Several are named with commas between them. Throws `OperatorError` where they cannot be had, or not together. */
export function createFeeds(settings: FeedSettings, universe: Universe, remembered: Remembered): Feed[] {
  const feeds = settings.feed
    .split(BETWEEN_FEEDS)
    .map((feed) => paced(createFeed({ ...settings, feed: feed.trim() }, universe, remembered), settings));
  const twice = feeds.find(({ name }, at) => feeds.findIndex((each) => each.name === name) !== at);
  if (twice) throw new OperatorError(`there are two feeds ${twice.name}`, 'name each kind of feed once');
  if (feeds.length > 1 && feeds.some(({ simulated }) => simulated)) {
    throw new OperatorError('the simulated market stands alone', 'name it without other feeds, or leave it out');
  }
  return feeds;
}

/** Asked as the operator says, where it is asked over a network. */
function paced(feed: Feed, { feedEvery, feedHours = 'session' }: FeedSettings): Feed {
  if (feedHours !== 'session' && feedHours !== 'always') {
    throw new OperatorError(`"${feedHours}" are no hours`, 'use --feed-hours session or always');
  }
  const every = feedEvery === undefined ? undefined : wholeNumber(feedEvery, '--feed-every');
  if (every === 0) throw new OperatorError('--feed-every is not a time', 'use 1 or more seconds, e.g. --feed-every 60');
  if (isAtHand(feed)) return feed;
  const everyMs = every === undefined ? feed.pace.everyMs : every * 1000;
  return { ...feed, pace: { ...feed.pace, hours: feedHours, everyMs } };
}

/** A comma, unless it belongs to the name of a folder. */
const BETWEEN_FEEDS = /,(?=\s*[a-z]+(?::|\s*(?:,|$)))/;

/** Throws `OperatorError` where the text names no feed, or one whose credential is missing. */
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
    'use simulated, files:DIR with the folder of your option chains, cboe, tradier or massive',
  );
}

/** From the environment alone: a command line is visible to all users of a machine. */
function credential(name: 'tradierToken' | 'massiveKey', feed: string): string {
  const { env } = SETTINGS[name];
  const value = process.env[env]?.trim() ?? '';
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  const fault = value === '' ? 'is not set' : 'is no credential: it has spaces or other marks in it';
  throw new OperatorError(`${env} ${fault}`, `the feed "${feed}" asks with it; set it in the service's environment`);
}

function rate(text: string): number {
  const value = wholeNumber(text, '--feed-rate');
  if (value > 0) return value;
  throw new OperatorError('--feed-rate is not a rate', 'use 1 or more requests per minute, e.g. --feed-rate 60');
}

/** A folder that is missing at the start is a slip of the pen; one that goes missing later is reported and polled on. */
function existingFolder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw new OperatorError(`"${path}" is not a folder`, 'use files:DIR with the folder of your option chains');
}

/** A folder made where it is missing. What is moved there must not be found again. */
function folderApart(path: string, from: string): string {
  mkdirSync(path, { recursive: true });
  const [a, b] = [`${realpathSync(path)}/`, `${realpathSync(from)}/`];
  if (!a.startsWith(b) && !b.startsWith(a)) return path;
  throw new OperatorError(`"${path}" is not apart from "${from}"`, 'use a --set-aside folder beside the drop folder');
}

function wholeNumber(text: string, flag: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new OperatorError(`${flag} is not a whole number`, `use 0 to 999999999, e.g. ${flag} 1`);
}

import type { Page, Request, Response } from 'playwright-core';
import type { Operation } from '../../src/operations/engine/operation.ts';
import { OPERATIONS } from '../../src/operations/registry.ts';
import { WEB_OPERATIONS } from '../../web/operations.ts';
import { parseAddress } from '../../web/state/address.ts';

/** An answer that a page got from the API. */
export interface SeenAnswer {
  readonly status: number;
  /** The moment of its data, ISO 8601. */
  readonly asOf: string | undefined;
  text(): Promise<string>;
}

/** The answers that a page got from the API, by what it asked for: `GET /api/v1/feeds`, with the body of a POST after the path. */
export interface AnswerLog {
  readonly answers: ReadonlyMap<string, SeenAnswer>;
  /** Resolves when every request is answered, and the page has drawn some frames after that without another request. */
  settled(): Promise<void>;
  /** Forgets the answers of a page that another test has had. */
  forget(): void;
}

/**
 * Number of frames without a request after which a page has settled, some 100 ms: an answer is drawn and makes the page ask again within three
 * frames, and an address that follows another one at once is asked when the page has rested on it for 80 ms.
 */
const FRAMES = 6;

/** What a page counts of its own requests. */
interface Followed {
  readonly followed: { readonly running: number; readonly sent: number };
}

const logs = new WeakMap<Page, AnswerLog>();

/** Returns the log of a page that the terminal of a test has opened. */
export function answersOf(page: Page): AnswerLog {
  return logs.get(page)!;
}

/** Follows the requests of a new page. The stream of live levels is left out, because it never ends. */
export async function followAnswers(page: Page): Promise<void> {
  const answers = new Map<string, SeenAnswer>();
  const isAsked = (request: Request) => {
    const { pathname } = new URL(request.url());
    return pathname.startsWith('/api/') && !pathname.includes('/stream/');
  };
  page.on('response', (response: Response) => {
    const request = response.request();
    // The page keeps the answer that it had if the server says that it has not changed.
    if (!isAsked(request) || response.status() === 304) return;
    answers.set(requestName(request.method(), request.url(), request.postData()), {
      status: response.status(),
      asOf: response.headers()['x-data-as-of'],
      text: () => response.text(),
    });
  });
  // The page itself knows when it has read an answer, and not only received it.
  await page.addInitScript(() => {
    const followed = { running: 0, sent: 0 };
    Object.assign(globalThis, { followed });
    const during = async <T>(promise: Promise<T>): Promise<T> => {
      followed.running++;
      followed.sent++;
      return promise.finally(() => followed.running--);
    };
    const { fetch: send } = globalThis;
    globalThis.fetch = ((...call: Parameters<typeof fetch>) =>
      String(call[0]).includes('/stream/') ? send(...call) : during(send(...call))) as typeof fetch;
    const { text } = Response.prototype;
    Response.prototype.text = function () {
      return during(text.call(this));
    };
  });
  logs.set(page, {
    answers,
    forget: () => answers.clear(),
    async settled() {
      await page.evaluate(
        (frames) =>
          new Promise<void>((resolve) => {
            const look = (left: number, before: number) => {
              const { running, sent: now } = (globalThis as unknown as Followed).followed;
              if (left === 0) resolve();
              else requestAnimationFrame(() => look(running > 0 || now !== before ? frames : left - 1, now));
            };
            look(frames, -1);
          }),
        FRAMES,
      );
    },
  });
}

function requestName(method: string, url: string, body: string | null): string {
  const { pathname, search } = new URL(url);
  return `${method} ${pathname}${search}${body ? ` ${body}` : ''}`;
}

/** A call as the page copies it for a shell. */
export interface CopiedCall {
  /** The same as in an `AnswerLog`. */
  readonly name: string;
  readonly path: string;
  readonly operation: Operation;
  /** The arguments of the query and of the body. */
  readonly args: Readonly<Record<string, string>>;
}

/** Reads a copied curl command. */
export function copiedCall(curl: string): CopiedCall {
  const url = new URL(/'(https?:[^']+)'$/.exec(curl)![1]!);
  const body = / -d '([^']+)'/.exec(curl)?.[1] ?? null;
  const method = body === null ? 'GET' : 'POST';
  const args = { ...Object.fromEntries(url.searchParams), ...(body === null ? {} : JSON.parse(body)) };
  return {
    name: requestName(method, url.href, body),
    path: url.pathname,
    operation: operationAt(method, url.pathname)!,
    args: Object.fromEntries(Object.entries(args).map(([key, value]) => [key, String(value)])),
  };
}

/** Returns the operation of the registry that answers at an address. */
export function operationAt(method: string, pathname: string): Operation | undefined {
  const found = Object.entries(WEB_OPERATIONS).find(([, operation]) => {
    const pattern = operation.path.replace(/\?.*$/, '').replaceAll(/\{\w+\}/g, '[^/]+');
    return operation.method === method && new RegExp(`^${pattern}$`).test(pathname);
  });
  return found && OPERATIONS.find(({ name }) => name === found[0]);
}

/** A part of the answer of a view, which is the answer of an operation of its own. */
export type ViewPart = 'strikes' | 'profile' | 'expiries';

/**
 * Returns the answer from which a panel with this call is drawn, and the part of it if it is the answer of the whole view. A live page asks
 * for the newest answer, and copies a call with the moment of this answer.
 */
export function sourceOf(log: AnswerLog, { name, path }: CopiedCall): { answer?: SeenAnswer; part?: ViewPart } {
  const live = (each: string) => each.replace(/[?&]at=[^&]+$/, '');
  const newest = (each: string) => log.answers.get(each) ?? log.answers.get(live(each));
  const own = newest(name);
  const part = /\/(strikes|profile|expiries)$/.exec(path)?.[1] as ViewPart | undefined;
  if (own) return { answer: own };
  if (!part) return {};
  // Of the parts, only the profile has the option `smile_dynamics`.
  const viewOf = (each: string) => each.replace(/smile_dynamics=[^&]+&?/, '').replace(/&$/, '');
  const wanted = viewOf(name.replace(path, path.replace(part, 'view')));
  const found = [...log.answers.keys()].findLast((each) => viewOf(each) === wanted || viewOf(each) === live(wanted));
  return found ? { answer: log.answers.get(found)!, part } : {};
}

/** Shows an address and waits until its view has all its answers. */
export async function goTo(page: Page, address: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, address);
  await page.waitForSelector(`main[data-view="${parseAddress(address).view}"]`);
  await answersOf(page).settled();
}

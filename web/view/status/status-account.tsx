import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import {
  type AccountStatus,
  accountStatus,
  keyOfMember,
  MEMBER_UUID,
  type TelegramLinkage,
  telegramLinkage,
} from '../../data/member-account.ts';
import { isKey, isKeyKept, keepKey, memberKey, signIn, signOut } from '../../data/member-key.ts';
import { rateLimit } from '../../data/request.ts';
import { cleanText, countText, duration, newYorkMoment, UNKNOWN } from '../../page-format.ts';
import { Facts } from '../../panel/facts.tsx';
import { feeds } from '../../state/page-market.ts';
import { copy } from '../../state/ui.ts';

/** Renders the account of the signed-in key, and a form that requests the account data of any member. */
export function StatusAccount() {
  return (
    <div class="status-cards">
      {/* The attribute `key` remounts the component when the member's key changes, so that the page masks the new key. */}
      <SignedIn key={memberKey.value!} />
      <Member />
    </div>
  );
}

function SignedIn() {
  const [status, setStatus] = useState<AccountStatus>();
  const [problem, setProblem] = useState('');
  const report = feeds.asked.value.answer;
  // The request for the account is repeated with each new feed report, every 30 s.
  useEffect(() => {
    accountStatus().then(
      (next) => {
        setStatus(next);
        setProblem('');
      },
      (error: Error) => setProblem(error.message),
    );
  }, [report]);
  const limit = status?.rate_limit;
  const left = rateLimit.value.quota > 0 ? rateLimit.value.left : (limit?.remaining ?? 0);
  return (
    <section class="status-card stack" data-account>
      <h2>This account</h2>
      {problem && <p class="problem">{problem}</p>}
      <Facts
        of={[
          ['Tier', cleanText(status?.tier) || UNKNOWN],
          ['Membership', status ? membershipText(status) : UNKNOWN],
          [
            'Rate limit',
            limit ? (
              <>
                {`${countText(limit.requests - left)} of ${countText(limit.requests)} used; refilled within ${duration(limit.window_s)}`}
                <progress max={limit.requests} value={limit.requests - left} aria-label="Rate limit used" />
              </>
            ) : status ? (
              'none'
            ) : (
              UNKNOWN
            ),
          ],
          ['Streams of live levels', countText(status?.live_streams)],
        ]}
      />
      <h3>Key</h3>
      <Secret value={memberKey.value!} name="the key" />
      <label class="check row">
        <input
          type="checkbox"
          data-keep
          checked={isKeyKept.value}
          onChange={(event) => keepKey(event.currentTarget.checked)}
        />{' '}
        Stay signed in until this tab is closed
      </label>
      <p>
        <button type="button" data-sign-out onClick={() => signOut()}>
          Sign out
        </button>
      </p>
    </section>
  );
}

function membershipText({ expires_at }: AccountStatus): string {
  return expires_at === null ? 'does not expire' : `until ${newYorkMoment(expires_at)} New York`;
}

/** Renders a masked key. `Reveal` shows the key, and `Copy` copies the key without showing it. */
function Secret({ value, name, children }: { value: string; name: string; children?: ComponentChildren }) {
  const [isShown, setShown] = useState(false);
  return (
    <p class="row">
      <code data-secret={isShown ? 'shown' : 'masked'}>{isShown ? value : maskedKey(value)}</code>
      <button type="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
        {isShown ? 'Hide' : 'Reveal'}
      </button>
      <button type="button" onClick={() => copy(value, name, true)}>
        Copy
      </button>
      {children}
    </p>
  );
}

/** The result of a request about a member: a key, a link to a Telegram account, or an error. */
type Told = string | TelegramLinkage | Error;

/** Renders a form that requests a member's key and Telegram link. The request needs only the UUID of the member. */
function Member() {
  const [uuid, setUuid] = useState('');
  const [told, setTold] = useState<Told>();
  const isUuid = MEMBER_UUID.test(uuid.trim());
  const tell = (asked: Promise<Told>) => asked.catch((error: Error) => error).then(setTold);
  return (
    <section class="status-card stack" data-member>
      <h2>A member's key and Telegram link</h2>
      <form class="fields" onSubmit={(event) => event.preventDefault()}>
        <label>
          Member UUID
          <input
            type="password"
            autocomplete="off"
            spellcheck={false}
            data-uuid
            value={uuid}
            onInput={(event) => {
              setUuid(event.currentTarget.value);
              setTold(undefined);
            }}
          />
        </label>
      </form>
      <p class="row">
        <button type="button" data-get-key disabled={!isUuid} onClick={() => tell(keyOfMember(uuid.trim()))}>
          Get the key
        </button>
        <button type="button" data-get-telegram disabled={!isUuid} onClick={() => tell(telegramLinkage(uuid.trim()))}>
          Telegram link
        </button>
      </p>
      <div aria-live="polite">{told && <Answered told={told} />}</div>
      <p class="muted">
        The UUID is sent only to this server. The server gives keys only to clients that its operator admits: by
        default, those on its own machine. <code>zomma members list</code> prints the members on the server's machine.
      </p>
    </section>
  );
}

function Answered({ told }: { told: Told }) {
  if (told instanceof Error) return <p class="problem">{told.message}</p>;
  if (typeof told === 'string') {
    return (
      <Secret value={told} name="the member's key">
        {isKey(told) && told !== memberKey.value && (
          <button type="button" onClick={() => signIn(told, isKeyKept.value)}>
            Sign in with it
          </button>
        )}
      </Secret>
    );
  }
  const { status, telegram_id, routing_1dte, routing_radar, last_ping } = told;
  return (
    <Facts
      of={[
        ['Status', status],
        ['Telegram account', telegram_id || UNKNOWN],
        ['1DTE signals', routing_1dte],
        ['Radar signals', routing_radar],
        [
          'Last ping',
          last_ping ? `${newYorkMoment(`${last_ping.replace(' ', 'T')}Z`)} New York (${last_ping} UTC)` : UNKNOWN,
        ],
      ]}
    />
  );
}

/** Returns a key whose secret part is replaced by dots. */
function maskedKey(key: string): string {
  return `${key.slice(0, key.indexOf('_') + 1)}${'•'.repeat(16)}`;
}

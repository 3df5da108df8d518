import { useEffect, useRef, useState } from 'preact/hooks';
import { cleanText } from '../format.ts';
import { isKey, signedOutReason, signIn } from '../state/member-key.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Asks for the key or the member's UUID. Checks the key with one request before it signs in. */
export function SignIn() {
  const [given, setGiven] = useState('');
  const [isKept, setKept] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current!.focus(), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    const text = given.trim();
    setProblem(null);
    setBusy(true);
    try {
      const key = UUID.test(text) ? await keyOfMember(text) : text;
      if (!isKey(key)) throw new Error('This is neither a key (ZOMMA_ and 16 characters) nor a member UUID.');
      await checkKey(key);
      signIn(key, isKept);
    } catch (error) {
      setProblem(error instanceof TypeError ? 'The server does not answer.' : (error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <main class="sign-in">
      <h1>Zomma</h1>
      <p>Option Greeks, gamma levels and flow, from your own market data, on your own machine.</p>
      {signedOutReason.value && (
        <p class="problem" role="alert">
          {signedOutReason.value}
        </p>
      )}
      <form onSubmit={submit}>
        <label for="key">API key or member UUID</label>
        <input
          id="key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          ref={field}
          value={given}
          aria-describedby="key-help"
          onInput={(event) => setGiven(event.currentTarget.value)}
        />
        <p id="key-help">
          <code>zomma start</code> prints the demo member's key and an address that signs in.{' '}
          <code>zomma members add</code> prints a member's key.
        </p>
        <label class="check">
          <input type="checkbox" checked={isKept} onChange={(event) => setKept(event.currentTarget.checked)} /> Stay
          signed in until this tab is closed
        </label>
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? 'Checking…' : 'Sign in'}
        </button>
      </form>
      <p>
        The key stays in this tab's memory. Programs send it in the header <code>X-API-Key</code>: see{' '}
        <a href="/docs">the API</a>.
      </p>
    </main>
  );
}

/** Asks the server for the key of a member. Throws an error with the server's sentence. */
async function keyOfMember(uuid: string): Promise<string> {
  const response = await fetch(`/api/v1/auth/my-key?uuid=${encodeURIComponent(uuid)}`, { cache: 'no-store' });
  const body = (await response.json()) as Record<string, unknown>;
  if (response.ok && typeof body.api_key === 'string') return body.api_key;
  throw new Error(`${cleanText(body.detail)}. ${cleanText(body.hint)}`);
}

async function checkKey(key: string): Promise<void> {
  const response = await fetch('/api/v1/account', { headers: { 'X-API-Key': key }, cache: 'no-store' });
  if (response.ok) return;
  const body = (await response.json()) as Record<string, unknown>;
  throw new Error(`${cleanText(body.detail)}. ${cleanText(body.hint)}`);
}

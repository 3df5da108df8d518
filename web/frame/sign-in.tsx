import { useEffect, useRef, useState } from 'preact/hooks';
import { checkKey, keyOfMember, MEMBER_UUID } from '../data/member-account.ts';
import { isKey, signedOutReason, signIn } from '../data/member-key.ts';

/** Renders the sign-in form for a key or a member's UUID. The form checks the key with one request before it signs the member in. */
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
      const key = MEMBER_UUID.test(text) ? await keyOfMember(text) : text;
      if (!isKey(key)) throw new Error('This is neither a key (ZOMMA_ and 16 characters) nor a member UUID.');
      await checkKey(key);
      signIn(key, isKept);
    } catch (error) {
      setProblem((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <main class="sign-in stack">
      <h1 class="lead">Zomma</h1>
      <p>Option Greeks, gamma levels and flow, from your own market data, on your own machine.</p>
      {signedOutReason.value && (
        <p class="problem" role="alert">
          {signedOutReason.value}
        </p>
      )}
      <form class="stack" onSubmit={submit}>
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
        <label class="check row">
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

import { type ClientConfig, filledConfig, KEY_PLACEHOLDER } from '../../data/client-configs.ts';
import { memberKey } from '../../data/member-key.ts';
import { pageTicker } from '../../state/page.ts';
import { usePageFile } from '../../state/page-files.ts';
import { copy } from '../../state/ui.ts';

/** Renders an example request, and the configurations of docs/clients.md. All texts contain this server's address. */
export function StatusConnect() {
  const configs = usePageFile<ClientConfig[]>('clients') ?? [];
  const first = `curl -H 'X-API-Key: ${KEY_PLACEHOLDER}' ${location.origin}/api/v1/nodes/gex/${encodeURIComponent(pageTicker.value)}`;
  const groups = Map.groupBy(configs, ({ section }) => section);
  return (
    <div class="status-connect">
      <section class="prose stack inset">
        <h2>REST</h2>
        <p>
          The first request. <a href="/docs">/docs</a> has every operation with a form,{' '}
          <a href="/openapi.json">/openapi.json</a> describes the API for programs.
        </p>
      </section>
      <div class="status-cards">
        <Snippet text={first} name="the request" />
      </div>
      {[...groups].map(([section, configs]) => (
        <section key={section} aria-label={section}>
          <div class="prose stack inset">
            <h2>{section === 'Settings files' ? 'MCP: settings files' : section}</h2>
          </div>
          <div class="status-cards">
            {configs.map(({ purpose, text }, i) => (
              <Snippet
                key={i}
                purpose={purpose === configs[i - 1]?.purpose ? undefined : purpose}
                text={filledConfig(text, location.origin)}
                name="the configuration"
              />
            ))}
          </div>
        </section>
      ))}
    </div>
  );
}

/** Renders a text that has a placeholder instead of the key. The member can copy the text with the key or without it. */
function Snippet({ purpose, text, name }: { purpose?: string | undefined; text: string; name: string }) {
  const hasKey = text.includes(KEY_PLACEHOLDER);
  return (
    <section class="status-card stack" data-snippet>
      {purpose && <p>{purpose.split('`').map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</p>}
      <pre>{text}</pre>
      <p class="row">
        {hasKey && (
          <button
            type="button"
            data-copy-key
            onClick={() => copy(filledConfig(text, location.origin, memberKey.value!), `${name}, with the key`, true)}
          >
            Copy with the key
          </button>
        )}
        <button type="button" onClick={() => copy(text, name)}>
          {hasKey ? 'Copy without it' : 'Copy'}
        </button>
      </p>
    </section>
  );
}

import { pageFact, usePageFile } from '../data/page-files.ts';
import { Fact } from './house-feeds.tsx';

/** What this program is, and the licences of the libraries in the page. */
export function HouseAbout() {
  const licences = usePageFile('licences');
  return (
    <section class="house-text" data-about>
      <h2>Zomma</h2>
      <dl class="house-facts">
        <Fact name="Version" value={pageFact('version')} />
        <Fact name="Licence" value="Apache-2.0" />
      </dl>
      <p>
        <a href="/docs">The API</a> · <a href="/openapi.json">OpenAPI</a>
      </p>
      <h2>Libraries in this page</h2>
      {licences
        ?.split(/^## /m)
        .slice(1)
        .map((each) => {
          const end = each.indexOf('\n');
          return (
            <details key={end}>
              <summary>{each.slice(0, end)}</summary>
              <pre>{each.slice(end).trim()}</pre>
            </details>
          );
        })}
    </section>
  );
}

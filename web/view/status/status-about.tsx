import { Fact } from '../../panel/fact.tsx';
import { pageFact, usePageFile } from '../../state/page-files.ts';

/** Renders a description of the program, and the licences of the libraries in the page and of the libraries that draw pictures. */
export function StatusAbout() {
  const licences = usePageFile<{ name: string; text: string }[]>('licences');
  return (
    <section class="prose stack inset" data-about>
      <h2>Zomma</h2>
      <dl class="facts">
        <Fact name="Version" value={pageFact('version')} />
        <Fact name="Licence" value="Apache-2.0" />
      </dl>
      <p>
        <a href="/docs">The API</a> · <a href="/openapi.json">OpenAPI</a>
      </p>
      <h2>Libraries in this page</h2>
      {licences?.map(({ name, text }) => (
        <details key={name}>
          <summary>{name}</summary>
          <pre>{text}</pre>
        </details>
      ))}
    </section>
  );
}

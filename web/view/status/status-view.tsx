import { Facts } from '../../panel/facts.tsx';
import { formatAddress } from '../../state/address.ts';
import { page, setOwn } from '../../state/page.ts';
import { pageFact, usePageFile } from '../../state/page-files.ts';
import { StatusAccount } from './status-account.tsx';
import { StatusConnect } from './status-connect.tsx';
import { StatusFeeds } from './status-feeds.tsx';
import { StatusTools } from './tool-forms.tsx';

/** Renders a description of the program, and the licences of the libraries for the page and for pictures. */
function StatusAbout() {
  const licences = usePageFile<{ name: string; text: string }[]>('licences');
  return (
    <section class="prose stack inset" data-about>
      <h2>Zomma</h2>
      <Facts
        of={[
          ['Version', pageFact('version')],
          ['Licence', 'Apache-2.0'],
        ]}
      />
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

const PARTS = {
  feeds: { name: 'Feeds', Part: StatusFeeds },
  account: { name: 'Account and key', Part: StatusAccount },
  connect: { name: 'Connect', Part: StatusConnect },
  tools: { name: 'Tools', Part: StatusTools },
  about: { name: 'About', Part: StatusAbout },
} as const;
const PART_IDS = Object.keys(PARTS) as (keyof typeof PARTS)[];

/** Renders the Status view: feeds, account, connection instructions, tools, and a description of the program. */
export function StatusView() {
  const { own } = page.value;
  const part = PART_IDS.find((each) => each === own.part) ?? 'feeds';
  const { Part } = PARTS[part];
  return (
    <div class="status-view" data-part={part}>
      <nav class="status-parts row inset" aria-label="Parts of Data">
        {PART_IDS.map((each) => (
          <a
            key={each}
            href={formatAddress({ ...page.value, own: { part: each } })}
            aria-current={each === part ? 'page' : undefined}
            onClick={(event) => {
              event.preventDefault();
              setOwn('part', each);
            }}
          >
            {PARTS[each].name}
          </a>
        ))}
      </nav>
      <Part />
    </div>
  );
}

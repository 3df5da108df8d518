import { WEB_OPERATIONS, type WebOperationName } from '../operations.ts';
import { HouseAbout } from '../part/house-about.tsx';
import { HouseAccount } from '../part/house-account.tsx';
import { HouseConnect } from '../part/house-connect.tsx';
import { HouseFeeds } from '../part/house-feeds.tsx';
import { ToolForms } from '../part/tool-form.tsx';
import { formatAddress } from '../state/address.ts';
import { page, setOwn } from '../state/page.ts';

const TOOLS = (Object.keys(WEB_OPERATIONS) as WebOperationName[]).filter((name) => WEB_OPERATIONS[name].isTool);

function HouseTools() {
  return <ToolForms names={TOOLS} />;
}

const PARTS = {
  feeds: { name: 'Feeds', Part: HouseFeeds },
  account: { name: 'Account and key', Part: HouseAccount },
  connect: { name: 'Connect', Part: HouseConnect },
  tools: { name: 'Tools', Part: HouseTools },
  about: { name: 'About', Part: HouseAbout },
} as const;
const PART_IDS = Object.keys(PARTS) as (keyof typeof PARTS)[];

/** Renders the status view: feeds, account, connection instructions, tools, and a description of the program. */
export function HouseView() {
  const { own } = page.value;
  const part = PART_IDS.find((each) => each === own.part) ?? 'feeds';
  const { Part } = PARTS[part];
  return (
    <div class="house" data-part={part}>
      <nav class="house-parts" aria-label="Parts of House">
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

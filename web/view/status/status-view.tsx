import { WEB_OPERATIONS, type WebOperationName } from '../../operations.ts';
import { ToolForms } from '../../panel/tool-form.tsx';
import { formatAddress } from '../../state/address.ts';
import { page, setOwn } from '../../state/page.ts';
import { HouseAbout } from './status-about.tsx';
import { HouseAccount } from './status-account.tsx';
import { HouseConnect } from './status-connect.tsx';
import { HouseFeeds } from './status-feeds.tsx';

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

/** Whether the data is good, and how others get it. */
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

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
  feeds: HouseFeeds,
  account: HouseAccount,
  connect: HouseConnect,
  tools: HouseTools,
  about: HouseAbout,
} as const;
type HousePart = keyof typeof PARTS;

const NAMES: Readonly<Record<HousePart, string>> = {
  feeds: 'Feeds',
  account: 'Account and key',
  connect: 'Connect',
  tools: 'Tools',
  about: 'About',
};

/** Whether the data is good, and how others get it. */
export function HouseView() {
  const { own } = page.value;
  const part = (Object.keys(PARTS) as HousePart[]).find((each) => each === own.part) ?? 'feeds';
  const Part = PARTS[part];
  return (
    <div class="house" data-part={part}>
      <nav class="house-parts" aria-label="Parts of House">
        {(Object.keys(PARTS) as HousePart[]).map((each) => (
          <a
            key={each}
            href={formatAddress({ ...page.value, own: { part: each } })}
            aria-current={each === part ? 'page' : undefined}
            onClick={(event) => {
              event.preventDefault();
              setOwn('part', each);
            }}
          >
            {NAMES[each]}
          </a>
        ))}
      </nav>
      <Part />
    </div>
  );
}

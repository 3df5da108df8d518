/** Generates docs/terminal.md: its tables of views, keys, states and calls come from the code of the web terminal. */
import { join } from 'node:path';
import { OPERATIONS } from '../src/operations/registry.ts';
import { ACTION_LIST, CHART_KEYS } from '../web/state/action-list.ts';
import { VIEW_NAMES, VIEWS } from '../web/state/address.ts';
import { GENERATED } from './generated.ts';
import { table } from './reference-tables.ts';
import { code } from './reference-words.ts';

export const TERMINAL_PAGE = join(import.meta.dir, '../docs/terminal.md');

export function terminalPage(): string {
  const views = VIEWS.map((view) => {
    const { name, key, question } = VIEW_NAMES[view];
    const asked = OPERATIONS.filter(({ page }) => page === view).map(({ name }) => code(name));
    return [name, code(`g ${key}`), question, asked.join(', ')];
  });
  const groups = [...Map.groupBy(ACTION_LIST, ({ group }) => group)];
  const keys = groups.flatMap(([group, acts]) =>
    (group === 'Views' ? [] : acts).map(({ keys, label }) => [group, keys ? code(keys) : 'by `Ctrl+K`', label]),
  );
  return [
    '# Web terminal',
    GENERATED,
    `A running server shows a web page at its address: the *terminal*. A member looks at the market there, asks each figure how it was made, goes back
in time, and copies the same call for programs and agents. The page comes from the binary. It requests nothing from any other host, so it
works without internet access.`,
    `\`zomma start\` prints an address that opens the terminal once, signed in with the demo key:`,
    '```\nopen: http://127.0.0.1:8080/#code=…\n```',
    `The key stands in the fragment of the address. A browser sends the fragment to no server, and the page removes it at once. Members open the
address without a fragment and type their key, or the UUID of their membership. The key stays in the memory of the tab. With *Stay signed
in until this tab is closed*, it is also in the tab's session storage, and so is the demo key of the printed address. It is never in a cookie, in local storage or in an address.`,
    '## Views',
    `A page shows one ticker at one moment, with one set of options. All panels show the same snapshot, and a panel of another moment says so. The
address of the page has the whole state, and the browser's *Back* works. \`y\` copies a link with the moment of the figures, so that it opens the
same picture later. A link by hand may name a moment in New York time, \`#/SPY@2026-11-19 15:00\`, or in any zone,
\`#/SPY/ticker?at=2026-11-19T21:00+01:00\`. What the page does not understand in an address stands in the ribbon.

The scope bar below the ribbon says with which options the figures are made: which expiries count, how contracts are weighted, what dealers hold, and
which volatility prices them. The switch of the expiries has those that settle by the end of the *Session*, those of *35 days*, and *All*. 35
days are the default, because a wall of all expiries can be months away. The menu beside it has single expiries and others. *Options* (\`o\`) also
has what volatilities do if spot moves: sticky strike, sticky moneyness, or a skew-stickiness ratio (SSR), which flip, profile and hedging follow
([smile dynamics](methods/levels.md#smile-dynamics)). An option that differs from the default is filled, has a button that restores the default, and stands in the ribbon, in
the title, and in saved pictures and tables. Each panel says of which expiries its figures are. Those that do not follow the options say so: the
watchlist, *Compare*, the hedging nodes and *Whether levels held* are always of all expiries, like the live events and the published figures.
*History* and *Last sessions* have the stored levels of the three sets of the switch, and *Odds* those of 35 days.`,
    table(['view', 'key', 'question that it answers', 'operations'], views),
    `*Compare* has up to eight tickers side by side: check them in the watchlist while the view is open, or type them. The link keeps them. Its
grid has all tickers. Words of the filter select by ticker and theme, and conditions by figures: \`regime:neg flip<2% iv>50\` selects
tickers in negative gamma, less than 2 % from their flip, with an IV rank above 50. What is not understood is said.`,
    '## Acts and their keys',
    `Each act has a key or is a command (\`Ctrl+K\`, on a Mac also \`⌘K\`). Letters do nothing while a field has the focus. They can be turned off in the
list of keys (\`?\`). In the commands, \`SPY flow\` goes to a view of a ticker, \`SPY @2026-11-20 15:30\` to a moment in New York time, \`@-1d\` to a day
before, and \`@09:45 ~ @15:45\` compares two moments.`,
    table(['group', 'key', 'act'], keys),
    'In a chart:',
    table(
      ['key', 'act'],
      CHART_KEYS.map(([key, label]) => [code(key), label]),
    ),
    '`Esc` closes what is open, then leaves the chart, then goes back to live.',
    '## Walls and sign',
    `Below the figures of *Ticker*, a row says of which expiries the levels are, and of each wall its distance from spot in standard deviations of a
session, the odds to be touched by the close of the session and within five sessions, its lead over the second strike, and how likely it stays
at its strike overnight ([levels by horizon](methods/levels.md#levels-by-horizon-get-apiv1nodesgextickerhorizons)). *Net GEX* has the odds of its
sign, below 80 % the regime is undetermined, and *Gamma flip* has the zone in which quotes do not determine the sign. If spot is in it, *Net GEX*
says so. *If dealers are* has net GEX if dealers are long calls and short puts, short both, long both, and by signed flow. A press opens a table
with regime, sign margin and flip of each, and the flip by each assumption on what volatilities do
([odds of the sign](methods/levels.md#the-odds-of-the-sign)). \`?\` explains the figures beside it.`,
    '## The price axis',
    `On *Ticker*, the levels of the last sessions, the ladder and *If spot moves* share one price axis. It shows spot, and the flip and both walls if
they are within 25 % of spot, and at least 9 % on each side. A level beyond it is a button at its end, with the distance from spot. A press moves
the axis there, and \`=\` puts it back. Once the member has zoomed, the address has the zoom. A press on a session shows its last snapshot.`,
    `*If spot moves* says what dealers trade, always with the direction of spot: the shares of the whole move (\`get_hedging_profile\`), and those of a
further 1 %. The choice *shares* draws those of the whole move instead of net gamma.`,
    '## Time',
    `The strip at the bottom has a stop for each stored snapshot. While the page shows an earlier moment, the ribbon says REPLAY, no live figure is
drawn, and the snapshots that arrive meanwhile are counted. \`l\` goes back to live. \`p\` pins the moment as A, and \`d\` shows the difference of
the present moment from A: figures with their change, the ladder of A as outlines, and both profiles. *Since* does the same in one press with the
previous close, the open or an hour before. The moment at the strip opens a calendar of the stored days, and *This day* shows one day alone.`,
    '## States',
    `The ribbon below the head says in words what the state of the data is: simulated, replay, closed, stale, partial, a feed that fails, a server
that does not answer, requests that are used up. In a closed market, quotes from before the last close are STALE too. If the simulated market has quotes while the exchange is closed, the ribbon says so. A moment of another year than the present one has its year. An unknown value is a dash with the reason, and never
0. A gamma flip that is not resolved has no line.`,
    '## The same call elsewhere',
    `The menu of each panel copies its call as curl, with the moment of the snapshot, and with \`$ZOMMA_KEY\` in place of the key. The answer has the
bytes from which the panel was drawn. \`Shift+C\` copies the call as an MCP message, if MCP has the figures: it has those of all expiries and of
the default options. *Explain* (\`i\`) shows both with the command of \`zomma\`.
Each operation has a place on the page, except these:`,
    table(
      ['operation', 'reason'],
      OPERATIONS.flatMap(({ name, page }) => (typeof page === 'string' ? [] : [[code(name), page.absent]])),
    ),
    '## Data',
    `*Feeds* shows each feed with its state, its polls and its stream, and ticker by ticker the age of the quotes, the expected and the
received contracts, the rejected rows by reason, and why the last attempt failed. *Account and key* shows the membership, the used part of the
rate limit, and the key. The key is masked until it is revealed, and can be copied without being shown. For a member's UUID the page shows the
member's key and the Telegram link. *Connect* has the configurations of [Clients](clients.md) with the address of this server. A press copies
them with the key in them. *Tools* has each tool as a form with its answer, and the call as curl, MCP message and command. *About* has the
version, and the licences of the libraries in the page and of those that draw pictures.`,
    '## The first data',
    `While there is no market data, do one of these on the machine of the server:`,
    `- \`zomma ingest FILE…\` loads files of chains, closes, dividends or trades once, also while the server runs ([docs/market-data.md](market-data.md)).
- \`zomma serve --feed files:DIR\` watches a folder and loads each file that appears in it ([docs/feeds.md](feeds.md)).
- \`zomma serve --feed tradier\` polls a provider. Others are \`massive\`, \`thetadata\` and \`cboe\` ([docs/providers.md](providers.md)).
- \`zomma start\` runs a simulated market.`,
    '## Reading without a mouse, without colours, without a screen',
    `Everything can be done by keyboard. Blue and orange say the sign, and the side says it too. Series of one chart differ by colour and line style. Puts are hatched, levels differ by pattern and
name. Each chart has a sentence and a table (\`v\`), its cursor moves by arrow keys, and a screen reader speaks the strike under the cursor.
The page follows the system's dark, light, high-contrast and forced colours and its wish for reduced motion, works from 320 pixels
width on, and prints.`,
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n');
}

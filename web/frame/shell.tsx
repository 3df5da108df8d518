import { Component, type ComponentType } from 'preact';
import { memberKey, signOut } from '../data/member-key.ts';
import { Explain } from '../explain/explain.tsx';
import { formatAddress, VIEW_NAMES, VIEWS, type ViewName } from '../state/address.ts';
import { navigate, page, pageTicker, view } from '../state/page.ts';
import { type DialogName, dialog, notice } from '../state/ui.ts';
import { Commands, KeyMap } from './commands.tsx';
import { OptionsSheet } from './options-sheet.tsx';
import { RibbonBar } from './ribbon-bar.tsx';
import { ScopeBar } from './scope-bar.tsx';
import { Sheet } from './sheet.tsx';
import { SignIn } from './sign-in.tsx';
import { Calendar } from './snapshot-calendar.tsx';
import { TimeStrip } from './time-strip.tsx';
import { Watchlist } from './watchlist.tsx';

/** The views of one ticker at one moment. These views have the time strip. */
const TIMED: ReadonlySet<ViewName> = new Set(VIEWS.filter((each) => each !== 'house'));

interface ShellProps {
  /** Returns the component of a view: `undefined` while its chunk loads, and null if the chunk cannot be loaded. */
  viewOf(name: ViewName): ComponentType | null | undefined;
  /** Called when the member wants another attempt to load a view. */
  onRetry(name: ViewName): void;
}

/** Renders the frame of the page: header, status ribbon, watchlist, current view, Explain panel and time strip. */
export function Shell({ viewOf, onRetry }: ShellProps) {
  if (memberKey.value === null) return <SignIn />;
  const View = viewOf(view.value);
  const explained = page.value.explain;
  return (
    <div class={`shell${explained ? ' explaining' : ''}`}>
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to the figures
      </a>
      <header class="head row">
        <strong>Zomma</strong>
        <button
          type="button"
          class="ticker-field"
          onClick={() => (dialog.value = 'ticker')}
          aria-label={`Ticker ${pageTicker.value}, choose another (/)`}
        >
          {pageTicker.value} <kbd>/</kbd>
        </button>
        <nav class="views" aria-label="Views">
          {VIEWS.map((each) => (
            <a
              key={each}
              href={formatAddress({ ...page.value, view: each, own: {} })}
              aria-current={view.value === each ? 'page' : undefined}
              title={`${VIEW_NAMES[each].question} (g ${VIEW_NAMES[each].key})`}
              onClick={(event) => {
                event.preventDefault();
                navigate({ view: each, own: {} });
              }}
            >
              {VIEW_NAMES[each].name}
            </a>
          ))}
        </nav>
        <span class="spring" />
        <button type="button" class="wide-only" onClick={() => (dialog.value = 'commands')}>
          Commands <kbd>Ctrl K</kbd>
        </button>
        <button type="button" class="wide-only" onClick={() => (dialog.value = 'keys')}>
          Keys <kbd>?</kbd>
        </button>
        <button type="button" class="narrow-only" onClick={() => (dialog.value = 'menu')} aria-label="Menu">
          ☰
        </button>
      </header>
      <RibbonBar />
      <Boundary key={`scope ${pageTicker.value}`}>
        <ScopeBar />
      </Boundary>
      <Watchlist />
      <main id="main" tabIndex={-1} class={`view view-${view.value}`} data-view={view.value}>
        <h1 class="spoken">
          {pageTicker.value} {VIEW_NAMES[view.value].name}
        </h1>
        <Boundary key={view.value}>
          {View ? <View /> : View === null && <LoadProblem onRetry={() => onRetry(view.value)} />}
        </Boundary>
      </main>
      {explained && <Explain id={explained} />}
      {TIMED.has(view.value) && <TimeStrip />}
      <Dialogs />
      <p class="notice" role="status">
        {notice.value}
      </p>
    </div>
  );
}

/** Renders the problem of a view whose chunk cannot be loaded: the server does not answer, or has another version of the page. */
function LoadProblem({ onRetry }: { onRetry(): void }) {
  return (
    <div class="problem" role="alert">
      <p>
        <strong>This view could not be loaded.</strong>
      </p>
      <p>The server does not answer, or it has another version of the page by now.</p>
      <button type="button" onClick={onRetry}>
        Try again
      </button>{' '}
      <button type="button" onClick={() => location.reload()}>
        Reload the page
      </button>
    </div>
  );
}

function Dialogs() {
  const Dialog = dialog.value && DIALOGS[dialog.value];
  return Dialog && <Dialog />;
}

/** Renders the menu of a narrow window. The menu has the views, the watchlist, and the controls that are in the header of a wide window. */
function Menu() {
  const close = () => (dialog.value = null);
  return (
    <Sheet title="Menu" class="menu">
      <div class="menu-actions">
        {VIEWS.map((each) => (
          <button
            type="button"
            key={each}
            aria-current={view.value === each ? 'page' : undefined}
            onClick={() => {
              close();
              navigate({ view: each, own: {} });
            }}
          >
            {VIEW_NAMES[each].name}
          </button>
        ))}
        {(['commands', 'options', 'keys'] as const).map((name) => (
          <button type="button" key={name} onClick={() => (dialog.value = name)}>
            {name.replace(/^./, (first) => first.toUpperCase())}
          </button>
        ))}
        <button
          type="button"
          onClick={() => {
            close();
            signOut();
          }}
        >
          Sign out
        </button>
      </div>
      <Watchlist />
    </Sheet>
  );
}

const DIALOGS: Readonly<Record<DialogName, ComponentType>> = {
  keys: KeyMap,
  commands: () => <Commands />,
  ticker: () => <Commands isTickerOnly />,
  options: OptionsSheet,
  menu: Menu,
  calendar: Calendar,
};

function skipToMain(event: Event): void {
  event.preventDefault();
  document.getElementById('main')!.focus();
}

/** Catches an error in the code that renders a view. The rest of the page still works, so the member can open another view. */
class Boundary extends Component {
  override state: { message?: string } = {};

  static override getDerivedStateFromError(error: unknown) {
    return { message: String(error) };
  }

  render() {
    const { message } = this.state;
    return message === undefined ? this.props.children : <p class="problem">This view has a defect: {message}</p>;
  }
}

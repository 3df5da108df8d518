import { effect, signal } from '@preact/signals';

export type DialogName = 'keys' | 'commands' | 'ticker' | 'options' | 'menu' | 'calendar';

/** The open dialog. At most one dialog is open. */
export const dialog = signal<DialogName | null>(null);

export const THEMES = ['system', 'dark', 'light'] as const;
export type Theme = (typeof THEMES)[number];

/** The colour theme that the member has chosen. `system` follows the operating system. */
export const theme = signal<Theme>('system');

/** A counter that increases when the colours of the page may have changed. Every canvas is drawn again after an increase. */
export const themeVersion = signal(0);

/** True if single letters are keyboard shortcuts. Members who use speech input can turn these shortcuts off (WCAG 2.1.4). */
export const areLettersOn = signal(true);

/** A short message about the last action, such as a copy. */
export const notice = signal('');

/** Keys of the settings in local storage. The settings contain no secret. */
const STORED = { theme: 'zomma-theme', letters: 'zomma-letters' } as const;

/** Reads the settings from local storage, and stores each change there. */
export function followSettings(): void {
  theme.value = THEMES.find((each) => each === localStorage.getItem(STORED.theme)) ?? 'system';
  areLettersOn.value = localStorage.getItem(STORED.letters) !== 'off';
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const isSystemDark = signal(dark.matches);
  effect(() => {
    const { value } = theme;
    localStorage.setItem(STORED.theme, value);
    const { dataset, style } = document.documentElement;
    // The style sheet has one block per theme. Either the member or the operating system chooses the theme.
    dataset.theme = value === 'system' ? (isSystemDark.value ? 'dark' : 'light') : value;
    style.colorScheme = dataset.theme;
    themeVersion.value = themeVersion.peek() + 1;
  });
  effect(() => localStorage.setItem(STORED.letters, areLettersOn.value ? 'on' : 'off'));
  dark.addEventListener('change', ({ matches }) => (isSystemDark.value = matches));
  for (const query of ['(forced-colors: active)', '(prefers-contrast: more)']) {
    matchMedia(query).addEventListener('change', () => themeVersion.value++);
  }
}

let clearing: ReturnType<typeof setTimeout> | undefined;

/** Shows a message for five seconds. */
export function notify(text: string): void {
  notice.value = text;
  clearTimeout(clearing);
  clearing = setTimeout(() => (notice.value = ''), 5_000);
}

/** Copies a text and shows a message. If the browser refuses, the message contains the text, except for a key (`isSecret`). */
export async function copy(text: string, what: string, isSecret = false): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify(`Copied: ${what}`);
  } catch {
    notify(`This browser does not let the page copy. Select the text instead${isSecret ? '.' : `: ${text}`}`);
  }
}

/** Saves a file that the page has created. */
export function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  notify(`Saved: ${name}`);
}

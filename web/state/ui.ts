import { effect, signal } from '@preact/signals';

export type DialogName = 'keys' | 'commands' | 'ticker' | 'options' | 'menu';

/** The open dialog, at most one. */
export const dialog = signal<DialogName | null>(null);

export const THEMES = ['system', 'dark', 'light'] as const;
export type Theme = (typeof THEMES)[number];

/** The member's choice of colours. `system` follows the operating system. */
export const theme = signal<Theme>('system');

/** Changes whenever the colours of the page may have changed, so that canvases are drawn again. */
export const themeVersion = signal(0);

/** Whether single letters are keys of acts. Members who use speech input turn them off (WCAG 2.1.4). */
export const areLettersOn = signal(true);

/** A short message about the last act, such as a copy. */
export const notice = signal('');

/** Settings that stay in this browser. None of them is secret. */
const STORED = { theme: 'zomma-theme', letters: 'zomma-letters' } as const;

/** Reads the settings of this browser, and keeps them up to date. */
export function followSettings(): void {
  theme.value = THEMES.find((each) => each === localStorage.getItem(STORED.theme)) ?? 'system';
  areLettersOn.value = localStorage.getItem(STORED.letters) !== 'off';
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const isSystemDark = signal(dark.matches);
  effect(() => {
    const { value } = theme;
    localStorage.setItem(STORED.theme, value);
    const { dataset, style } = document.documentElement;
    // The style sheet has one block for each of the two, whoever has chosen it.
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

/** Shows a message for some seconds. */
export function notify(text: string): void {
  notice.value = text;
  clearTimeout(clearing);
  clearing = setTimeout(() => (notice.value = ''), 5_000);
}

/** Copies a text, and says so. A text with a key in it is not shown if the browser refuses. */
export async function copy(text: string, what: string, isSecret = false): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify(`Copied: ${what}`);
  } catch {
    notify(`This browser does not let the page copy. Select the text instead${isSecret ? '.' : `: ${text}`}`);
  }
}

/** Saves a file that the page made. */
export function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  notify(`Saved: ${name}`);
}

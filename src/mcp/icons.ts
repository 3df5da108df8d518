import type { Icon } from '@modelcontextprotocol/server';

/** A letter Z whose diagonal is the gamma of an option over spot. */
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="12" fill="#10151c"/><path d="M14 16h36M14 48h36" stroke="#e8edf2" stroke-width="6"/><path d="M14 46C28 46 30 20 34 18S42 30 50 18" fill="none" stroke="#3ba7ff" stroke-width="5"/></svg>`;

/** The icon of the server, which hosts show beside its name. */
export const ICONS: Icon[] = [
  {
    src: `data:image/svg+xml;base64,${Buffer.from(SVG).toString('base64')}`,
    mimeType: 'image/svg+xml',
    sizes: ['any'],
  },
];

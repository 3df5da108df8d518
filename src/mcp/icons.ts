import type { Icon } from '@modelcontextprotocol/server';

/** A letter Z whose diagonal is the delta curve of an option. The SVG is short, because each answer of revision 2026-07-28 contains it. */
const SVG =
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0,0,16,16'><rect width='16' height='16' rx='3' fill='#10151c'/>" +
  "<path d='M3.5,4h9M3.5,12h9M3.5,12c6,0,3-8,9-8' fill='none' stroke='#5ab4ff' stroke-width='1.5'/></svg>";

/** The icon of the server. Hosts show the icon beside the server's name. The spaces are encoded, because a URI must not have spaces. */
export const ICONS: Icon[] = [
  {
    src: `data:image/svg+xml,${SVG.replace(/[<># ]/g, encodeURIComponent)}`,
    mimeType: 'image/svg+xml',
    sizes: ['any'],
  },
];

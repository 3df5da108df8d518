import { UnknownResource } from '../../src/mcp/protocol-errors.ts';
import type { Resources } from '../../src/mcp/resources.ts';

/** The resources that the suites read: a text, an image, and a resource template. */
export const FIXTURE_RESOURCES: Resources = {
  templates: [{ uriTemplate: 'test://template/{id}/data', name: 'template' }],
  list: () => ({
    resources: Object.entries(FIXED).map(([uri, { mimeType }]) => ({
      ...{ uri, mimeType },
      ...{ name: uri, title: uri, description: 'A fixture.' },
    })),
  }),
  // biome-ignore lint/correctness/useYield: reading a fixture is one step.
  *read(uri) {
    const [, id] = /^test:\/\/template\/(\w+)\/data$/.exec(uri) ?? [];
    const content = id === undefined ? FIXED[uri] : { mimeType: 'application/json', text: JSON.stringify({ id }) };
    if (content) return { contents: [{ uri, ...content }] };
    throw new UnknownResource(uri, 'There is no such resource');
  },
  canonical: (uri) => uri,
};

type Content = { readonly mimeType: string } & ({ readonly text: string } | { readonly blob: string });

const FIXED: Readonly<Record<string, Content>> = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  // The signature at the start of every PNG.
  'test://static-binary': { mimeType: 'image/png', blob: 'iVBORw0KGgo=' },
};

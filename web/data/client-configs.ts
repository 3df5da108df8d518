/** A text from docs/clients.md that the member pastes into an MCP client or a shell. */
export interface ClientConfig {
  /** The heading of the section, such as `Settings files`. */
  readonly section: string;
  /** The paragraph that precedes the text and names the client. */
  readonly purpose: string;
  readonly language: string;
  readonly text: string;
}

/** The address of the server in the examples of the documentation. */
const ADDRESS = /http:\/\/127\.0\.0\.1:8080/g;
export const KEY_PLACEHOLDER = 'ZOMMA_…';

/** Replaces the example address in a text by the address of this server. If a key is given, the key replaces the placeholder. */
export function filledConfig(text: string, origin: string, key?: string): string {
  const addressed = text.replace(ADDRESS, () => origin);
  return key === undefined ? addressed : addressed.replaceAll(KEY_PLACEHOLDER, () => key);
}

/** What is sent with a tag. */
export interface Tagged {
  readonly text: string | Blob;
  readonly etag: string;
  /** Of the full answer, the tag among them. */
  readonly headers: Headers;
}

/** The answer, or 304 where the client has it already (RFC 9110, 13.1.2). */
export function conditional(request: Request, { text, etag, headers }: Tagged): Response {
  const asked = request.headers.get('if-none-match');
  if (asked === null || !matches(asked, etag)) return new Response(text, { headers });
  const unchanged = new Response(null, { status: 304, headers });
  unchanged.headers.delete('Content-Type');
  return unchanged;
}

/** A list of tags, weak ones too, or `*` for any. */
function matches(asked: string, etag: string): boolean {
  return asked.trim() === '*' || (asked.match(TAG)?.includes(etag) ?? false);
}

/** The opaque part: `If-None-Match` compares weakly. A tag may have commas in it. */
const TAG = /"[\x21\x23-\x7e\x80-\xff]*"/g;

/** The connection whose password is searched. */
interface Login {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/**
 * Returns the password of a login from a file with lines `HOST:PORT:DATABASE:USER:PASSWORD`, as libpq reads them: the first line that matches
 * counts, `*` matches anything, and `\` precedes a `:` or `\` of a field. Returns undefined if no line matches.
 */
export function passwordIn(text: string, { host, port, database, user }: Login): string | undefined {
  // libpq calls the host of a Unix socket `localhost`.
  const hosts = host.startsWith('/') ? [host, 'localhost'] : [host];
  const wanted = [hosts, [String(port)], [database], [user]];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue;
    const [, ...fields] =
      /^((?:\\.|[^:\\])*):((?:\\.|[^:\\])*):((?:\\.|[^:\\])*):((?:\\.|[^:\\])*):(.*)$/.exec(line) ?? [];
    if (fields.length === 0) continue;
    const [password, ...login] = [fields.pop()!, ...fields].map((field) => field.replaceAll(/\\(.)/g, '$1'));
    if (wanted.every((values, i) => login[i] === '*' || values.includes(login[i]!))) return password;
  }
  return undefined;
}

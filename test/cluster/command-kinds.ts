/**
 * What each command does with a database that servers share: it writes into the database, reads the copy in the data folder, is refused, or has
 * nothing to do with stored data. `group` is a name that only has commands below it.
 */
export const KINDS = {
  '': 'group',
  serve: 'server',
  start: 'refused',
  gex: 'copy',
  surface: 'copy',
  history: 'copy',
  call: 'copy',
  greeks: 'same',
  iv: 'same',
  merton: 'same',
  ingest: 'write',
  'ingest thetadata': 'write',
  map: 'group',
  'map guess': 'same',
  chains: 'group',
  'chains list': 'copy',
  'chains forget': 'write',
  feeds: 'copy',
  'feeds --forget': 'write',
  mcp: 'copy',
  'mcp --feed': 'refused',
  connect: 'same',
  members: 'group',
  'members add': 'write',
  'members list': 'copy',
  'members revoke': 'write',
  'members rekey': 'write',
  'members link': 'write',
  'members export': 'copy',
  'members import': 'write',
  secret: 'group',
  'secret rotate': 'write',
  audit: 'copy',
  tls: 'group',
  'tls trust': 'same',
  backup: 'refused',
  'backup verify': 'refused',
  restore: 'refused',
  compact: 'compact',
  upgrade: 'refused',
  check: 'check',
  config: 'group',
  'config example': 'same',
  'config show': 'same',
  'config check': 'same',
  migrate: 'migration',
  bench: 'same',
} as const;
export type Kind = (typeof KINDS)[keyof typeof KINDS];
/** The names of the commands of some kinds. */
export type Named<Wanted extends Kind> = {
  [Name in keyof typeof KINDS]: (typeof KINDS)[Name] extends Wanted ? Name : never;
}[keyof typeof KINDS];

/** Returns the names of the commands of some kinds. */
export const namesWith = (...kinds: Kind[]): string[] =>
  Object.entries(KINDS).flatMap(([name, kind]) => (kinds.includes(kind) ? [name] : []));

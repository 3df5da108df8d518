import type { Static } from '@sinclair/typebox';
import type { REGISTRY } from '../operations/registry.ts';

type Registry = typeof REGISTRY;
/** The operations that are tools. */
export type ToolName = {
  [Name in keyof Registry]: [ToolKey<Name>] extends [never] ? never : Name;
}[keyof Registry];
type ToolKey<Name extends keyof Registry> = NonNullable<Registry[Name]['tool']>['answers'][number];
/** The arguments that callers may send. Fields with a default are optional. `format` is left out, because the client reads only JSON. */
type Arguments<Name extends ToolName> = Partial<Omit<Static<Registry[Name]['input']>, 'format'>>;
type Extended<Name extends ToolName> = Static<Registry[Name]['full']>;
type Answer<Name extends ToolName> = Pick<Extended<Name>, ToolKey<Name> & keyof Extended<Name>>;

/** The type of an operation's full answer, with every field that an answer may have. */
export type FullAnswer<Name extends keyof Registry> = Static<Registry[Name]['full']>;

export interface ClientSettings {
  /** e.g. `http://127.0.0.1:8080` */
  readonly baseUrl: string;
  readonly apiKey: string;
}

interface Problem {
  readonly detail?: string;
  readonly code?: string;
  readonly hint?: string;
}

/** An error response of the server, with the fields of its problem body. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly code: string;
  readonly hint: string;

  constructor(
    readonly status: number,
    problem: Problem,
  ) {
    super(problem.detail ?? `HTTP ${status}`);
    this.code = problem.code ?? 'unknown';
    this.hint = problem.hint ?? '';
  }
}

export interface Client {
  /** Calls a tool. Returns the default fields of the answer. Rejects with `ProblemError` if the server responds with an error status. */
  call<Name extends ToolName>(name: Name, args: Arguments<Name>): Promise<Answer<Name>>;
  /** Calls a tool. Returns all fields of the answer. Rejects with `ProblemError` if the server responds with an error status. */
  callExtended<Name extends ToolName>(name: Name, args: Arguments<Name>): Promise<Extended<Name>>;
}

/** Creates a client for the REST API. The types of the arguments and answers come from the registry. */
export function createClient({ baseUrl, apiKey }: ClientSettings): Client {
  const post = async <Body>(name: string, args: unknown, query: string): Promise<Body> => {
    const response = await fetch(`${baseUrl}/api/v1/tools/${name}${query}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': apiKey },
      body: JSON.stringify(args),
    });
    if (!response.ok) throw new ProblemError(response.status, (await response.json()) as Problem);
    return (await response.json()) as Body;
  };
  return {
    call: (name, args) => post(name, args, ''),
    callExtended: (name, args) => post(name, args, '?extended=true'),
  };
}

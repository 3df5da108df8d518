/** The calls of the examples in an OpenAPI document. */
export interface ExampleCall {
  readonly operationId: string;
  readonly method: string;
  /** The path as in the document. */
  readonly path: string;
  readonly pathParameters: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  /** The body of an operation of binary columns: one row. */
  readonly columns: Uint8Array<ArrayBuffer> | undefined;
  /** The path with the values of the parameters, and the query. */
  readonly address: string;
  readonly described: DescribedOperation;
}

export interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly description?: string;
  readonly parameters?: readonly (DescribedParameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, DescribedResponse>>;
}

export interface DescribedParameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly example?: unknown;
}

export interface DescribedResponse {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Content;
}

type Content = Readonly<
  Record<string, { readonly schema?: { readonly description?: string }; readonly example?: unknown }>
>;

export interface OpenapiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Returns the call of the example of each operation below `/api/v1` that does not stream. */
export function exampleCallsOf(document: OpenapiDocument): ExampleCall[] {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ path, method: method.toUpperCase(), described })),
  );
  return operations
    .filter(({ path }) => path.startsWith('/api/v1/') && !/^\/api\/v1\/(?:auth|stream)\//.test(path))
    .map(({ path, method, described }) => {
      const given = (where: string) =>
        Object.fromEntries(
          (described.parameters ?? []).flatMap((each) =>
            'name' in each && each.in === where && each.example !== undefined ? [[each.name, each.example]] : [],
          ),
        );
      const [pathParameters, query] = [given('path'), given('query')];
      const search = new URLSearchParams(query as Record<string, string>);
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(pathParameters[name])));
      return {
        operationId: described.operationId,
        method,
        path,
        pathParameters,
        query,
        body: described.requestBody?.content['application/json']?.example,
        columns: columnsOf(described.requestBody?.content['application/octet-stream']?.schema),
        address: search.size > 0 ? `${filled}?${search}` : filled,
        described,
      };
    });
}

const VALUES: Readonly<Record<string, number>> = {
  put_call: 1,
  spot: 100,
  strike: 105,
  tte: 0.25,
  iv: 0.22,
  price: 2.9,
  rate: 0.04,
  dividend: 0,
};

/** Returns a row of the columns that the schema of a binary body names. */
function columnsOf(schema: { readonly description?: string } | undefined): Uint8Array<ArrayBuffer> | undefined {
  const names = schema?.description?.split(': ')[1]?.replace('.', '').split(', ');
  return names && new Uint8Array(new Float64Array(names.map((name) => VALUES[name]!)).buffer);
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema?: object;
}

interface Described {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, { readonly parameters?: readonly Parameter[] }>>>>;
}

/**
 * Adds to the description of all routes how many records a page can have. The limit can change while the server runs, so it is no part of
 * the schemas of the routes.
 * @param largestPage `server.maxresultlimit`
 */
export function withPageLimits<Document extends Described>(document: Document, largestPage: number): Document {
  const paths = Object.entries(document.paths ?? {}).map(([path, methods]) => [
    path,
    Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, limited(operation, largestPage)])),
  ]);
  return { ...document, paths: Object.fromEntries(paths) };
}

function limited<Operation extends { readonly parameters?: readonly Parameter[] }>(
  operation: Operation,
  maximum: number,
): Operation {
  if (!operation.parameters) return operation;
  const parameters = operation.parameters.map((parameter) =>
    isPageSize(parameter) ? { ...parameter, schema: { ...parameter.schema, minimum: 0, maximum } } : parameter,
  );
  return { ...operation, parameters };
}

function isPageSize({ name, in: place }: Parameter): boolean {
  return place === 'query' && (name === 'first' || name === 'last');
}

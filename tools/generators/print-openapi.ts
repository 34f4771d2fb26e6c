import type { OpenApiDocument } from '#api/http/description/openapi-document.ts';
import { lostOperations } from './lost-operations.ts';

/**
 * The description of the REST API: a line for each operation and each shared part.
 * @param present the file as it is
 * @param today a day, such as `2026-05-01`: what had to stay until an earlier day may be missing
 * @throws Error that names what clients would lose
 */
export function printOpenapi(present: string, document: OpenApiDocument, today: string): string {
  const lost = present === '' ? [] : lostOperations(JSON.parse(present) as OpenApiDocument, document, today);
  if (lost.length > 0)
    throw new Error(
      `the REST API would lose what clients rely on; mark it as deprecated first (CONTRIBUTING.md, "Remove a part of the API"):\n${lost.join('\n')}`,
    );
  const { paths = {}, components = {}, webhooks = {}, ...head } = document;
  return `${objectOf({
    ...mapped(head, JSON.stringify),
    paths: objectOf(mapped(paths, (methods) => objectOf(mapped(methods, JSON.stringify)))),
    webhooks: objectOf(mapped(webhooks, JSON.stringify)),
    components: objectOf(mapped(components, (parts) => objectOf(mapped(parts as object, JSON.stringify)))),
  })}\n`;
}

function mapped<Value>(values: Readonly<Record<string, Value>> | object, print: (value: Value) => string) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, print(value as Value)]));
}

/** A JSON object with a line for each member, whose value is JSON. */
function objectOf(members: Readonly<Record<string, string>>): string {
  const lines = Object.entries(members).map(([name, text]) => `${JSON.stringify(name)}: ${text}`);
  return `{\n${lines.join(',\n')}\n}`;
}

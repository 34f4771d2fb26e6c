import { exampleOf } from './example-of.ts';
import { mapValues, type MediaType, type OpenApiDocument, type Schema } from './openapi-document.ts';

const reference = '#/components/schemas/';

/**
 * Adds an example to every body and every answer whose schema has a name and declares none. Declared examples, of a schema or of its parts
 * (`examples`), come first; pages have none, because the records in them do.
 */
export function withExamples(document: OpenApiDocument): OpenApiDocument {
  const { components = {}, paths = {} } = document;
  const { schemas = {} } = components;
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const bodies = namesIn(operations.flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {})));
  const answers = namesIn(
    operations.flatMap(({ responses = {} }) =>
      Object.values(responses).flatMap((each) => ('content' in each ? Object.values(each.content ?? {}) : [])),
    ),
  );
  const added = mapValues(schemas, (schema, name): Schema => {
    const isAnswer = answers.has(name) && !name.endsWith('Page');
    if (schema.examples || (!bodies.has(name) && !isAnswer)) return schema;
    return { ...schema, examples: [exampleOf(schema, schemas, bodies.has(name) ? 'body' : 'answer')] };
  });
  return { ...document, components: { ...components, schemas: added } };
}

function namesIn(media: readonly MediaType[]): ReadonlySet<string> {
  const references = media.flatMap(({ schema }) => schema?.$ref ?? []);
  return new Set(references.map((each) => each.slice(reference.length)));
}

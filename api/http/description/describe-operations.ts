import { STATUS_CODES } from 'node:http';
import { pascalCase } from '#entities/kit/base/snake-case.ts';
import { describedAnswer, describedInput, describedParameter } from './described-input.ts';
import { documentedHeaders, refusalHeaders, retryStatuses, type AnswerHeader } from './documented-headers.ts';
import {
  mapOperations,
  mapValues,
  type MediaType,
  type OpenApiDocument,
  type Operation,
  type Reference,
  type Response,
  type Schema,
} from './openapi-document.ts';
import { withSharedParameters } from './shared-parameters.ts';
import { withExamples } from './with-examples.ts';
import { SharedSchemas } from './shared-schemas.ts';

const problemType = 'application/problem+json';

/**
 * The description of the API as generators can use it, from the one that is printed from the routes: schemas with a name, parameters and
 * refusals that several operations share stand in the components once, and answers have their headers.
 * @param shared further schemas, by name
 * @throws TypeError when two schemas have the same name
 */
export function describeOperations(
  document: OpenApiDocument,
  shared: Readonly<Record<string, Schema>>,
): OpenApiDocument {
  const description = new Description();
  // An operation without the member would need the credentials of the whole document, of which there are none.
  const completed = (operation: Operation) => ({ security: [], ...description.completed(operation) });
  const complete = mapOperations(document.paths, completed);
  const webhooks = mapOperations(document.webhooks, completed);
  const { schemas, ...others } = description.components;
  const components = { ...document.components, ...others, schemas: sorted({ ...schemas, ...shared }) };
  return withExamples(withSharedParameters({ ...document, paths: complete, webhooks, components }));
}

class Description {
  readonly #schemas = new SharedSchemas();
  readonly #refusals = new Map<string, Response>();

  get components() {
    const headers = mapValues(documentedHeaders, (header) => header);
    const responses = sorted(Object.fromEntries(this.#refusals));
    return { schemas: this.#schemas.all, responses, headers };
  }

  completed({
    'x-answer-headers': headers = [],
    'x-body-optional': hasOptionalBody,
    ...operation
  }: Operation): Operation {
    const { operationId, parameters, requestBody, responses = {} } = operation;
    const name = operationId === undefined ? undefined : pascalCase(operationId);
    return {
      ...operation,
      ...(parameters ? { parameters: parameters.map(describedParameter) } : {}),
      ...(requestBody
        ? {
            requestBody: {
              ...requestBody,
              ...(hasOptionalBody ? { required: false } : {}),
              content: this.#content(requestBody.content, describedInput, name && `${name}Input`),
            },
          }
        : {}),
      responses: mapValues(responses, (response, status) =>
        this.#response(response as Response, status, headers as readonly AnswerHeader[], name),
      ),
    };
  }

  #response(
    response: Response,
    status: string,
    headers: readonly AnswerHeader[],
    operation: string | undefined,
  ): Response | Reference {
    const problem = response.content?.[problemType];
    if (problem && Object.keys(response.content ?? {}).length === 1) return this.#refusal(response, problem, status);
    // A status of an unhealthy process has the same answer as one of a healthy process.
    const suffix = status.startsWith('2') ? 'Result' : `Result${status}`;
    return {
      ...response,
      ...(headers.length > 0 ? { headers: referenced(headers) } : {}),
      ...(response.content
        ? {
            content: this.#content(
              response.content,
              describedAnswer,
              operation && `${operation}${suffix}`,
              STATUS_CODES[status],
            ),
          }
        : {}),
    };
  }

  /** A refusal, which is named after the codes that it can have. */
  #refusal(response: Response, { schema = {}, 'x-codes': codes = [] }: MediaType, status: string): Reference {
    const name = codes.map(pascalCase).join('Or');
    const reference = { $ref: `#/components/responses/${name}` };
    if (this.#refusals.has(name)) return reference;
    const problem = this.#schemas.share(schema);
    const narrowed: Schema = {
      type: 'object',
      required: ['code'],
      properties: { code: { type: 'string', enum: codes } },
    };
    this.#refusals.set(name, {
      ...response,
      headers: referenced([...refusalHeaders, ...(retryStatuses.has(status) ? (['Retry-After'] as const) : [])]),
      content: { [problemType]: { schema: { allOf: [problem, narrowed] } } },
    });
    return reference;
  }

  /** Examples of a whole body stand with its schema. @param described what the description says beyond the schema @param standIn what a schema without a description of its own has */
  #content(
    content: Readonly<Record<string, MediaType>> = {},
    described: (schema: Schema) => Schema,
    fallback: string | undefined,
    standIn?: string,
  ): Record<string, MediaType> {
    return mapValues(content, ({ schema = {}, example, examples, ...media }) => {
      const { description, ...rest } = schema;
      const whole = {
        ...(description === standIn ? rest : schema),
        ...(schema.examples || example === undefined ? {} : { examples: [example] }),
        ...(examples ? { examples: Object.values(examples).map(({ value }) => value) } : {}),
      };
      return { ...media, schema: this.#schemas.share(described(whole), fallback) };
    });
  }
}

function sorted<Value>(values: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function referenced(names: readonly AnswerHeader[]): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

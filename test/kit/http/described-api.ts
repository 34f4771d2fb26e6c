import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

/** Parts of the description of the API that tests read. */
export interface DescribedApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly webhooks: Readonly<Record<string, unknown>>;
  readonly tags: readonly { readonly name: string }[];
  readonly servers: readonly { readonly url: string }[];
  readonly components: {
    readonly schemas: Readonly<Record<string, DescribedSchema>>;
    readonly parameters: Readonly<Record<string, DescribedParameter>>;
    readonly responses: Readonly<Record<string, DescribedResponse>>;
    readonly [part: string]: unknown;
  };
}

export interface DescribedSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, DescribedSchema>>;
  readonly examples?: readonly unknown[];
  readonly [keyword: string]: unknown;
}

interface DescribedParameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly schema?: DescribedSchema;
}

interface DescribedResponse {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema?: DescribedSchema }>>;
}

export interface DescribedOperation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly deprecated?: true;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly DescribedParameter[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content?: Readonly<Record<string, { readonly schema?: DescribedSchema }>>;
  };
  readonly responses?: Readonly<Record<string, DescribedResponse>>;
}

/** The operation with its parameters and responses in place of references to them; schemas stay references. */
export function resolved(document: DescribedApi, operation: DescribedOperation): DescribedOperation {
  const { parameters, responses } = operation;
  return {
    ...operation,
    ...(parameters ? { parameters: parameters.map((each) => target(document, each)) } : {}),
    ...(responses
      ? {
          responses: Object.fromEntries(
            Object.entries(responses).map(([name, each]) => [name, target(document, each)]),
          ),
        }
      : {}),
  };
}

/** Target of a reference; a part that is not a reference is returned unchanged. */
export function target<Part extends object>(document: DescribedApi, part: Part): Part {
  if (!('$ref' in part) || typeof part.$ref !== 'string') return part;
  const found = part.$ref
    .replace('#/', '')
    .split('/')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], document);
  if (found === undefined) throw new Error(`the description has no ${part.$ref}`);
  return found as Part;
}

/** The schema with everything in place of references; a schema within itself accepts anything. */
function whole(document: DescribedApi, schema: DescribedSchema, within: readonly string[] = []): DescribedSchema {
  const { $ref = '' } = schema;
  if (within.includes($ref)) return {};
  return JSON.parse(JSON.stringify(target(document, schema)), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && '$ref' in value
      ? whole(document, value as DescribedSchema, [...within, $ref])
      : value,
  ) as DescribedSchema;
}

/** Mistakes of a value, by the schema that describes it. */
export function mistakes(document: DescribedApi, schema: DescribedSchema, value: unknown): string[] {
  return Compile(Type.Unsafe(whole(document, schema)))
    .Errors(value)
    .map(({ instancePath, message }) => `${instancePath} ${message}`);
}

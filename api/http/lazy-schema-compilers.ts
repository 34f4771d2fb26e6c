import buildValidators from '@fastify/ajv-compiler';
import buildSerializers from '@fastify/fast-json-stringify-compiler';
import type { FastifyServerOptions } from 'fastify';

type CompilersFactory = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>;

/**
 * Fastify's own compilers for schemas of requests and answers, each schema compiled when it is first used. Every kind adds five
 * routes: compiling all of them would take most of the start.
 */
export function lazySchemaCompilers(): CompilersFactory {
  const validators = buildValidators();
  const serializers = buildSerializers();
  return {
    // Its type has several forms, one for each sort of schema; all of them are given the same arguments.
    buildValidator: ((...pool: Parameters<typeof validators>) => {
      const compile = validators(...pool) as (route: unknown) => Validator;
      return (route: unknown) => lazyValidator(() => compile(route));
    }) as CompilersFactory['buildValidator'] & {},
    buildSerializer: (externalSchemas, options) => {
      const compile = serializers(externalSchemas, options);
      return (route) => {
        let serialize: ((body: unknown) => string) | undefined;
        return (body: unknown) => {
          serialize ??= compile(route);
          return serialize(body);
        };
      };
    },
  };
}

/** Fastify reads `errors` after a call that returned false. */
interface Validator {
  (value: unknown): unknown;
  errors?: unknown;
}

function lazyValidator(compile: () => Validator): Validator {
  let validate: Validator | undefined;
  const lazy: Validator = (value) => {
    validate ??= compile();
    const result = validate(value);
    lazy.errors = validate.errors;
    return result;
  };
  return lazy;
}

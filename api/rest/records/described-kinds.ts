import type { TObject } from 'typebox';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import type { Caller } from '#entities/kit/model/caller.ts';
import { reachOf } from '#entities/kit/model/caller-reach.ts';
import { hasSignedOn } from '#entities/kit/model/confinement.ts';
import type { EntityModule, Mutation } from '#entities/kit/model/define.ts';
import { fileKindOf } from '#entities/kit/model/derived/kind-files.ts';
import { shareKindOf } from '#entities/kit/model/derived/share.ts';
import { titleField } from '#entities/kit/model/derived/title-field.ts';
import { isExposed } from '#entities/kit/model/exposure.ts';
import { linksOf } from '#entities/kit/model/links.ts';
import type { Operation } from '#entities/kit/model/policy.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { isLimited } from '#entities/kit/model/scopes.ts';
import { describedInput } from '../../http/description/described-input.ts';
import type { KindOperation } from '../../http/description/kind-operation.ts';
import type { Schema } from '../../http/description/openapi-document.ts';
import type { Route } from '../../http/route.ts';
import { describedFields } from './described-fields.ts';
import { recordNames } from './record-names.ts';
import { inRestNames } from '../../http/value-schema.ts';

/** Both interfaces to records. */
export interface Interfaces {
  readonly routes: readonly Route[];
  readonly operations: readonly KindOperation[];
}

const operationOf = { create: 'create', update: 'edit', delete: 'remove' } as const satisfies Record<
  Mutation,
  Operation
>;

/** The kinds of which a caller may view, create, change or delete records, as `GET /v1/kinds` describes them. No statement is sent. */
export function describedKinds(registry: Registry, interfaces: Interfaces, caller: Caller) {
  return registry.modules.filter(isExposed).flatMap((module) => {
    const mutation = (verb: Mutation) =>
      module.mutate?.includes(verb) ? reachOf(registry, module, caller, operationOf[verb]) : 'none';
    const allowed = {
      view: reachOf(registry, module, caller, 'view'),
      create: mutation('create'),
      update: mutation('update'),
      delete: mutation('delete'),
    };
    if (Object.values(allowed).every((reach) => reach === 'none')) return [];
    const mayCall = (name: string) => {
      const verb = derivedVerb(module, name);
      return verb === undefined || allowed[verb] !== 'none';
    };
    const { tag } = recordNames(module);
    return [
      {
        ...describedKind(registry, module),
        allowed,
        actions: {
          rest: interfaces.routes
            .filter((route) => route.tag === tag && isOpenTo(route, caller) && mayCall(route.operationId))
            .map(describedRoute),
          graphql: interfaces.operations
            .filter((operation) => operation.tag === tag && isOpenTo(operation, caller) && mayCall(operation.name))
            .map(({ on, name, arguments: types, deprecated }) => ({ on, name, arguments: types, deprecated })),
        },
      },
    ];
  });
}

function describedKind(registry: Registry, module: EntityModule) {
  const { path, singular, plural } = recordNames(module);
  const title = titleField(module);
  return {
    kind: module.topic,
    singular,
    plural,
    path,
    graphql_type: module.typeName,
    description: inRestNames(module.description),
    title_field: title === null ? null : snakeCase(title),
    product_modules: module.productModules ?? [],
    files: module.files ? snakeCase(fileKindOf(module)) : null,
    shares: module.share ? snakeCase(shareKindOf(module)) : null,
    linked_with: linksOf(registry, module).map(({ target }) => target.topic),
    fields: describedFields(module),
  };
}

/** `create` for `createTask` and `createBulkTask`, where the kind offers it. */
function derivedVerb({ typeName, mutate = [] }: EntityModule, name: string): Mutation | undefined {
  return mutate.find((verb) => [verb, `${verb}Bulk`, `${verb}BulkCSV`].some((start) => name === `${start}${typeName}`));
}

function isOpenTo(
  {
    acceptsTokens = false,
    acceptsSingleSignOn = false,
  }: Partial<Pick<KindOperation, 'acceptsTokens' | 'acceptsSingleSignOn'>>,
  caller: Caller,
): boolean {
  return (acceptsTokens || !isLimited(caller)) && (acceptsSingleSignOn || !hasSignedOn(caller));
}

function describedRoute({ operationId, summary, method, url, query, body, deprecated }: Route) {
  return {
    operation_id: operationId,
    summary,
    method,
    path: url.replaceAll(/:(\w+)/g, '{$1}'),
    // Those of comparisons (`due_at[gte]`) follow from the fields.
    parameters: Object.keys(query?.properties ?? {}).filter((name) => !name.includes('[')),
    input: body ? inputOf(body) : null,
    deprecated: deprecated !== undefined,
  };
}

/** A schema with a name is in the description of the API, under this name. */
function inputOf(body: TObject): Schema {
  // TypeBox schemas are JSON schemas; their type does not say so of the parts.
  const schema = body as object as Schema;
  const { title } = schema;
  return title === undefined ? describedInput(schema) : { $ref: `/openapi.json#/components/schemas/${title}` };
}

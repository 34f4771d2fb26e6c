import { LRUCache } from 'lru-cache';
import { Type } from 'typebox';
import type { Caller } from '#entities/kit/model/caller.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { describedKinds, type Interfaces } from './described-kinds.ts';

const word = (description: string) => Type.String({ description });
const wordOrNull = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description });
const words = (description: string) => Type.Array(Type.String(), { description });
const flag = (description: string) => Type.Boolean({ description });
const jsonSchema = (type: string | readonly string[], description: string) =>
  Type.Unsafe<object>({ type, additionalProperties: true, description });
const reach = (description: string) => Type.Enum(['all', 'some', 'none'], { description });

const KindField = Type.Object(
  {
    name: word('Name in REST; GraphQL has it in camelCase.'),
    type: word(
      'Type: text, text_list, choice, integer, decimal, boolean, date, timestamp, reference (id of a record), json or file.',
    ),
    description: word('Meaning of the field.'),
    schema: jsonSchema('object', 'JSON Schema of a value that is not null, with the words of a choice and all limits.'),
    references: words('Kinds of the record whose id it holds; several for an id of one of several kinds.'),
    exposure: Type.Enum(['read', 'read-write', 'write'], {
      description: '`read`: responses have the field; `write`: inputs have it; `read-write`: both.',
    }),
    required: flag('Whether an input that creates a record must have it.'),
    can_be_null: flag('Whether it may be null.'),
    changeable: flag('Whether an input that changes a record may have it.'),
    filters: words('Comparisons that filters of lists offer; empty for a field that is no filter.'),
    order: flag('Whether lists can be sorted by it.'),
    search: flag('Whether a search looks for words in it.'),
  },
  { title: 'KindField' },
);

const Kind = Type.Object(
  {
    kind: word('Name of the kind, as in topics of events, scopes and imports.'),
    singular: word('Name of one record in a sentence.'),
    plural: word('Name of several records in a sentence.'),
    path: word('Path of the list in REST.'),
    graphql_type: word('Type in GraphQL.'),
    description: word('Meaning of its records.'),
    title_field: wordOrNull('Field by which people recognize a record; null without one.'),
    product_modules: words('Product modules of which the organization needs one; empty for none.'),
    files: wordOrNull('Kind of the files of its records; null for a kind without files.'),
    shares: wordOrNull('Kind of the access of groups to its records; null for a kind without.'),
    linked_with: words('Kinds with whose records its records can be linked.'),
    fields: Type.Array(KindField, { description: 'Fields that responses or inputs have.' }),
    allowed: Type.Object(
      {
        view: reach('View.'),
        create: reach('Create; some: depending on its values.'),
        update: reach('Update.'),
        delete: reach('Delete.'),
      },
      {
        description:
          'To which records the caller may do this by role, scopes and product modules: all of the organization, some, or none. `none` can also mean that the kind lacks the operation; other actions have rules of their own. Single records can refuse more (`POST /v1/account/access`), and archived organizations refuse all changes.',
      },
    ),
    actions: Type.Object(
      {
        rest: Type.Array(
          Type.Object({
            operation_id: word('Name of the operation in `/openapi.json` and in generated clients.'),
            summary: word('Effect.'),
            method: word('HTTP method.'),
            path: word('Path; parameters are in braces.'),
            parameters: words('Parameters of the query, without those of comparisons such as `due_at[gte]`.'),
            input: jsonSchema(['object', 'null'], 'JSON Schema of the body; null without one.'),
            deprecated: flag('Whether clients should no longer use it.'),
          }),
          { description: 'Operations of REST.' },
        ),
        graphql: Type.Array(
          Type.Object({
            on: Type.Enum(['query', 'mutation'], { description: 'Type of the operation.' }),
            name: word('Name of the field.'),
            arguments: Type.Record(Type.String(), Type.String(), { description: 'Types of its arguments, by name.' }),
            deprecated: flag('Whether clients should no longer use it.'),
          }),
          {
            description: 'Fields of Query and Mutation in GraphQL, among them those for many records, CSV and history.',
          },
        ),
      },
      { description: 'Actions that the credential of the caller can call.' },
    ),
  },
  { title: 'Kind' },
);

const example = {
  data: [
    {
      kind: 'entity_type',
      singular: 'entity type',
      plural: 'entity types',
      path: '/v1/entity-types',
      graphql_type: 'EntityType',
      description: 'Sort of company with which the organization deals, for example vendor or customer.',
      title_field: 'name',
      product_modules: [],
      files: null,
      shares: null,
      linked_with: [],
      fields: [
        {
          name: 'name',
          type: 'text',
          description: 'Name of the type.',
          schema: { type: 'string', minLength: 1, maxLength: 64, format: 'name' },
          references: [],
          exposure: 'read-write',
          required: true,
          can_be_null: false,
          changeable: true,
          filters: ['eq', 'ne', 'in', 'not_in', 'contains', 'starts_with', 'ends_with'],
          order: true,
          search: true,
        },
      ],
      allowed: { view: 'all', create: 'none', update: 'none', delete: 'none' },
      actions: {
        rest: [
          {
            operation_id: 'getEntityType',
            summary: 'Get one entity type',
            method: 'GET',
            path: '/v1/entity-types/{id}',
            parameters: [],
            input: null,
            deprecated: false,
          },
        ],
        graphql: [{ on: 'query', name: 'entityType', arguments: { id: 'ID!' }, deprecated: false }],
      },
    },
  ],
};

/** The cache keeps this many documents. People need one per role; tokens and delegations share the rest. */
const maxKept = 16;

export function kindsRoute(registry: Registry, interfaces: Interfaces): Route {
  const kept = new LRUCache<string, Buffer>({ max: maxKept });
  const documentFor = (caller: Caller): Buffer => {
    const rights = rightsOf(caller);
    const known = kept.get(rights);
    if (known) return known;
    const document = Buffer.from(JSON.stringify({ data: describedKinds(registry, interfaces, caller) }));
    kept.set(rights, document);
    return document;
  };
  return defineRoute({
    method: 'GET',
    url: '/v1/kinds',
    operationId: 'listKinds',
    tag: 'Service',
    summary: 'Describe kinds of records',
    description:
      'The kinds of records that the caller reaches: their fields with filters and orders, their actions with inputs, and what the caller may do with them. The answer depends on the role or the scopes, the session and the product modules of the organization alone; it changes with the version of the server.',
    access: 'required',
    acceptsTokens: true,
    acceptsSingleSignOn: true,
    sends: ['ETag'],
    answers: {
      200: Type.Object({ data: Type.Array(Kind) }, { title: 'KindList', examples: [example] }),
      304: Type.Null({ description: 'The answer has the entity tag of `If-None-Match`.' }),
    },
    errors: [],
    handle: ({ unit }) => ({ status: 200, document: documentFor(unit.context.caller) }),
  });
}

/** The properties of a caller on which the answer depends. */
function rightsOf(caller: Caller): string {
  const { kind, role, relations, limits, productModules, outOfContext, singleSignOnId, delegation } = caller;
  const isSomebody = caller.subjectId !== null;
  const has = [caller.organizationId !== null, isSomebody, singleSignOnId !== null, delegation !== null];
  return JSON.stringify([kind, role, relations, limits, productModules, outOfContext, has]);
}

import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  type GraphQLLeafType,
  type GraphQLResolveInfo,
} from 'graphql';
import type { RecordJson } from '#entities/kit/unit/answers.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { isExposed, readableFields } from '#entities/kit/model/exposure.ts';
import { existingId } from '#entities/kit/model/missing-record.ts';
import { entryFields, historyOf } from '#entities/kit/model/history-kind.ts';
import { pluralOf, relationsOf } from '#entities/kit/read/relations.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { BigInt } from './big-int.ts';
import { bulkMutationsOf } from './bulk-mutations.ts';
import { capitalized } from './capitalized.ts';
import type { GraphqlContext } from './graphql-context.ts';
import { DateTime } from './date-time.ts';
import { Json } from './json.ts';
import type { HandWrittenField, Types } from './hand-written-field.ts';
import { passthroughField, type FieldConfig, type FieldMap } from './passthrough-field.ts';
import { InputTypes } from './inputs.ts';
import { readableInOneStatement, type SelectionInfo } from './single-statement-query.ts';
import { mutationsOf } from './mutations.ts';
import { Node, nodeFields } from './nodes.ts';
import { OperationBudget } from './operation-budget.ts';
import { PageTypes } from './pages.ts';
import { searchFields } from './searches.ts';
import { SelectionReader, type PageArguments } from './selection-reader.ts';
import { WhereTypes } from './where-inputs.ts';

/**
 * The schema, derived from the entity modules: an object type for each kind that exposes something, with its relations, a
 * list and a look-up by id, and the hand-written fields. A list or a look-up is one statement with everything below it, so
 * the fields below only hand on what it brought.
 */
export function deriveSchema(registry: Registry, handWritten: readonly HandWrittenField[]): GraphQLSchema {
  return new SchemaDeriver(registry).schema(handWritten);
}

/** Limits of one operation besides `server.complexitylimit`, which limits its fields. */
const maxCost = { records: 100_000, values: 500_000, conditions: 500 };

class SchemaDeriver implements Types {
  readonly registry: Registry;
  readonly #exposed: readonly EntityModule[];
  readonly #objects = new Map<string, GraphQLObjectType>();
  readonly #choices = new Map<string, GraphQLEnumType>();
  readonly #wheres: WhereTypes;
  readonly #pages = new PageTypes();
  readonly inputs: InputTypes;

  constructor(registry: Registry) {
    this.registry = registry;
    this.#exposed = registry.modules.filter(isExposed);
    this.#wheres = new WhereTypes(registry);
    this.inputs = new InputTypes(registry, (module, field) => this.valueType(module, field));
    for (const module of this.#exposed)
      for (const kind of [module, historyOf(module)]) this.#objects.set(kind.kind, this.#objectType(kind));
  }

  schema(handWritten: readonly HandWrittenField[]): GraphQLSchema {
    const roots: Record<HandWrittenField['on'], FieldMap> = { Query: {}, Mutation: {} };
    for (const module of this.#exposed) {
      roots.Query[pluralOf(module)] = this.#listField(module);
      roots.Query[module.kind] = this.#lookUpField(module);
      roots.Query[pluralOf(historyOf(module))] = this.#listField(historyOf(module));
      for (const [name, mutation] of Object.entries({ ...mutationsOf(module, this), ...bulkMutationsOf(module, this) }))
        roots.Mutation[name] = flushed(mutation);
    }
    const readerOf = (context: GraphqlContext, info: GraphQLResolveInfo) => this.#reader(context, info);
    const searched = this.#exposed.filter(({ search = [] }) => search.length > 0);
    Object.assign(
      roots.Query,
      searchFields(searched, {
        readerOf,
        connectionOf: (module) => this.#connectionOf(module),
        argumentsOf: (module) => this.#pageArguments(module),
      }),
      nodeFields(this.#exposed, readerOf),
    );
    for (const field of handWritten) {
      const config = field.build(this);
      roots[field.on][field.name] = field.on === 'Mutation' ? flushed(config) : config;
    }
    return new GraphQLSchema({
      query: new GraphQLObjectType({ name: 'Query', fields: roots.Query }),
      mutation: new GraphQLObjectType({ name: 'Mutation', fields: roots.Mutation }),
    });
  }

  objectOf(module: EntityModule): GraphQLObjectType {
    return this.#objects.get(module.kind) as GraphQLObjectType;
  }

  read(module: EntityModule, id: string, context: GraphqlContext, info: GraphQLResolveInfo): Promise<RecordJson> {
    return context.unit.data.answers.record(this.#reader(context, info).record(module), id);
  }

  readAll(
    module: EntityModule,
    ids: readonly string[],
    context: GraphqlContext,
    info: GraphQLResolveInfo,
  ): Promise<readonly RecordJson[]> {
    return context.unit.data.answers.records(this.#reader(context, info).records(module, ids.length), ids);
  }

  #reader(context: GraphqlContext, info: SelectionInfo): SelectionReader {
    const { maxresultlimit, complexitylimit } = context.services.config.current.server;
    context.budget ??= new OperationBudget({ ...maxCost, fields: complexitylimit });
    return new SelectionReader(this.registry, info, { largestPage: maxresultlimit, budget: context.budget });
  }

  #objectType(module: EntityModule): GraphQLObjectType {
    return new GraphQLObjectType({
      name: module.typeName,
      description: module.description,
      interfaces: module.historyOf ? [] : [Node],
      fields: () => {
        const fields: FieldMap = {
          id: passthroughField(new GraphQLNonNull(GraphQLID)),
          ...(module.historyOf ? {} : recordFields),
        };
        for (const [name, field] of readableFields(module)) {
          const type = this.valueType(module, name);
          fields[name] = passthroughField(field.optional ? type : new GraphQLNonNull(type), field.description);
        }
        for (const [name, relation] of relationsOf(this.registry, module)) {
          fields[name] =
            relation.is === 'one'
              ? passthroughField(
                  this.objectOf(relation.target),
                  `${relation.description} Null when the caller may not see it.`,
                )
              : {
                  ...passthroughField(new GraphQLNonNull(this.#connectionOf(relation.target)), relation.description),
                  args: this.#pageArguments(relation.target),
                };
        }
        return fields;
      },
    });
  }

  #connectionOf(module: EntityModule): GraphQLObjectType {
    return this.#pages.connection(module, this.objectOf(module));
  }

  #pageArguments(module: EntityModule) {
    return this.#pages.arguments(
      module,
      this.#wheres.of(module, (of, field) => this.leafType(of, field)),
    );
  }

  valueType(module: EntityModule, name: string): GraphQLLeafType | GraphQLList<GraphQLNonNull<GraphQLLeafType>> {
    const leaf = this.leafType(module, name);
    return module.fields[name]?.type === 'textList' ? new GraphQLList(new GraphQLNonNull(leaf)) : leaf;
  }

  leafType(module: EntityModule, name: string): GraphQLLeafType {
    if (name === 'id') return GraphQLID;
    const field = module.fields[name];
    // Fields every record has.
    if (!field) return DateTime;
    switch (field.type) {
      case 'choice':
        return this.#choiceType(choiceName(module, name), field.description, field.values ?? []);
      case 'integer':
        return field.columnType === 'bigint' ? BigInt : GraphQLInt;
      case 'boolean':
        return GraphQLBoolean;
      case 'timestamp':
        return DateTime;
      case 'reference':
        return GraphQLID;
      case 'text':
      case 'textList':
        return GraphQLString;
      case 'json':
        return Json;
      default:
        field.type satisfies never;
        throw new Error('unknown field type');
    }
  }

  #choiceType(name: string, description: string, words: readonly string[]): GraphQLEnumType {
    const made = this.#choices.get(name);
    if (made) return made;
    const values = Object.fromEntries(words.map((word) => [word.toUpperCase(), {}]));
    const type = new GraphQLEnumType({ name, description, values });
    this.#choices.set(name, type);
    return type;
  }

  #listField(module: EntityModule): FieldConfig {
    return {
      type: new GraphQLNonNull(this.#connectionOf(module)),
      description: `${module.description} All that the caller may see.`,
      args: this.#pageArguments(module),
      resolve: (_source, args: PageArguments, context, info) =>
        context.unit.data.answers.page(this.#reader(context, info).page(module, args)),
      extensions: readableInOneStatement((args, context, info) => {
        const page = this.#reader(context, info).page(module, args);
        return () => context.unit.data.answers.singleStatementPage(page);
      }),
    };
  }

  #lookUpField(module: EntityModule): FieldConfig {
    return {
      type: new GraphQLNonNull(this.objectOf(module)),
      description: `One ${module.typeName} by id.`,
      args: { id: { type: new GraphQLNonNull(GraphQLID) } },
      resolve: (_source, { id }: { id: string }, context, info) =>
        this.read(module, existingId(module, id), context, info),
      extensions: readableInOneStatement(({ id }, context, info) => {
        const existing = existingId(module, id as string);
        const record = this.#reader(context, info).record(module);
        return () => context.unit.data.answers.singleStatementRecord(record, existing);
      }),
    };
  }
}

/** What every record says of itself. */
const recordFields: FieldMap = {
  createdAt: passthroughField(new GraphQLNonNull(DateTime)),
  updatedAt: passthroughField(new GraphQLNonNull(DateTime)),
  recordVersion: passthroughField(new GraphQLNonNull(GraphQLInt), 'Raised by one with every change.'),
};

/** Entries of a history say the words of the kind that they are about; what they did is said alike by all. */
function choiceName({ typeName, historyOf }: EntityModule, field: string): string {
  const owner = historyOf ? (Object.hasOwn(entryFields, field) ? 'History' : historyOf.typeName) : typeName;
  return `${owner}${capitalized(field)}`;
}

/** Sends what a mutation changed before the next one begins, so that a conflict is reported by the field it belongs to. */
function flushed(config: FieldConfig): FieldConfig {
  const { resolve } = config;
  return {
    ...config,
    resolve: async (source, args, context, info) => {
      const result: unknown = await resolve?.(source, args, context, info);
      await context.unit.flush();
      return result;
    },
  };
}

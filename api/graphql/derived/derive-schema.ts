import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  type GraphQLLeafType,
  type GraphQLResolveInfo,
} from 'graphql';
import type { RecordJson } from '#entities/kit/unit/answers.ts';
import { tenancyField, type EntityModule } from '#entities/kit/model/define.ts';
import { currentField, isSessionKind } from '#entities/kit/model/current-record.ts';
import { openProposalField } from '#entities/kit/model/derived/open-proposal.ts';
import { isExposed, readableFields } from '#entities/kit/model/exposure.ts';
import { existingId } from '#entities/kit/model/missing-record.ts';
import { entryFields, historyOf } from '#entities/kit/model/derived/history-kind.ts';
import { pluralOf, relationsOf } from '#entities/kit/read/relations.ts';
import type { PageSelection } from '#entities/kit/read/selection.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { viewDescription, withSavedView } from '../../people/apply-saved-view.ts';
import { aggregateField } from './aggregates.ts';
import { bulkMutationsOf } from './bulk-mutations.ts';
import { capitalized } from '../capitalized.ts';
import type { GraphqlContext } from '../graphql-context.ts';
import { DateTime } from '../scalars/date-time.ts';
import { withoutKey } from '../operations/keyed-operation.ts';
import type { HandWrittenField, Types } from '../hand-written-field.ts';
import { passthroughField, type FieldConfig, type FieldMap } from '../passthrough-field.ts';
import { alone, beyondOrganizations, flushed, forSessions } from '../guarded-fields.ts';
import { InputTypes } from './inputs.ts';
import { readableInOneStatement, type SelectionInfo } from '../single-statement-query.ts';
import { ofKind, withTag } from '../kind-operations.ts';
import { mutationsOf } from './mutations.ts';
import { Node, nodeFields } from '../nodes.ts';
import { costLimits, OperationBudget } from '../documents/operation-budget.ts';
import { PageTypes } from './page-types.ts';
import { scalarOf } from '../scalars/scalar-of.ts';
import { searchFields } from './searches.ts';
import { StoredFile } from './stored-file-type.ts';
import { tracedFields } from '../traced-fields.ts';
import { Upload } from '../scalars/upload.ts';
import { SelectionReader, type PageArguments } from '../documents/selection-reader.ts';
import { WhereTypes } from './where-inputs.ts';
import { subscriptionFields } from '../subscriptions/subscription-fields.ts';

/**
 * Derives the schema from the kinds: for each exposed kind an object type with its relations, a list, a look-up by id and
 * mutations; the hand-written fields are added. One statement reads a list or a record with all nested fields, so the fields
 * below the root only pass through its values.
 */
export function deriveSchema(registry: Registry, handWritten: readonly HandWrittenField[]): GraphQLSchema {
  return new SchemaDeriver(registry).schema(handWritten);
}

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
    this.inputs = new InputTypes(registry, (module, field) =>
      module.fields[field]?.type === 'file' ? Upload : this.valueType(module, field),
    );
    for (const module of this.#exposed)
      for (const kind of [module, historyOf(module)]) this.#objects.set(kind.kind, this.#objectType(kind));
  }

  schema(handWritten: readonly HandWrittenField[]): GraphQLSchema {
    const roots: Record<HandWrittenField['on'], FieldMap> = { Query: {}, Mutation: {} };
    for (const module of this.#exposed) {
      const aggregates = aggregateField(module, {
        leafType: (of, field) => this.leafType(of, field),
        where: this.#whereOf(module),
        readerOf: (context, info) => this.#reader(context, info),
      });
      roots.Query[pluralOf(module)] = ofKind(module, this.#listField(module));
      roots.Query[module.kind] = ofKind(module, this.#lookUpField(module));
      roots.Query[`${module.kind}Aggregates`] = ofKind(module, aggregates);
      roots.Query[pluralOf(historyOf(module))] = ofKind(module, this.#listField(historyOf(module)));
      const closed = module.needsSession ? forSessions : (mutation: FieldConfig) => mutation;
      for (const [name, mutation] of Object.entries({ ...mutationsOf(module, this), ...bulkMutationsOf(module, this) }))
        roots.Mutation[name] = ofKind(module, flushed(closed(mutation)));
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
      const plain = field.build(this);
      const built = field.runsOnce ? withoutKey(alone(plain), 'acts outside of the database') : plain;
      const config = field.acceptsSingleSignOn ? built : beyondOrganizations(built);
      const open = field.acceptsTokens ? config : forSessions(config);
      const guarded = field.answersCredential ? withoutKey(open, 'answers with a credential') : open;
      const root = field.on === 'Mutation' ? flushed(guarded) : guarded;
      roots[field.on][field.name] = field.tag === undefined ? root : withTag(field.tag, root);
    }
    return new GraphQLSchema({
      query: new GraphQLObjectType({ name: 'Query', fields: tracedFields(roots.Query) }),
      mutation: new GraphQLObjectType({ name: 'Mutation', fields: tracedFields(roots.Mutation) }),
      subscription: new GraphQLObjectType({
        name: 'Subscription',
        fields: subscriptionFields(this),
      }),
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
    context.budget ??= new OperationBudget(costLimits(complexitylimit));
    return new SelectionReader(this.registry, info, { largestPage: maxresultlimit, budget: context.budget });
  }

  #objectType(module: EntityModule): GraphQLObjectType {
    return new GraphQLObjectType({
      name: module.typeName,
      description: module.description,
      interfaces: module.historyOf ? [] : [Node],
      fields: () => {
        const fields: FieldMap = {
          id: passthroughField(new GraphQLNonNull(GraphQLID), 'Unique id.'),
          ...(module.historyOf ? {} : recordFields),
        };
        for (const [name, field] of readableFields(module)) {
          const type = field.type === 'file' && !module.historyOf ? StoredFile : this.valueType(module, name);
          const isNullable = field.optional || field.isNew;
          fields[name] = passthroughField(isNullable ? type : new GraphQLNonNull(type), field.description);
        }
        if (module.automation)
          fields[openProposalField.name] = passthroughField(
            new GraphQLNonNull(GraphQLBoolean),
            openProposalField.description,
          );
        if (isSessionKind(module))
          fields[currentField.name] = passthroughField(new GraphQLNonNull(GraphQLBoolean), currentField.description);
        for (const [name, relation] of relationsOf(this.registry, module)) {
          fields[name] =
            relation.is === 'one'
              ? passthroughField(
                  this.objectOf(relation.target),
                  `${relation.description} Null when the caller cannot view it.`,
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
    return this.#pages.arguments(module, this.#whereOf(module));
  }

  #whereOf(module: EntityModule) {
    return this.#wheres.of(module, (of, field) => this.leafType(of, field));
  }

  valueType(module: EntityModule, name: string): GraphQLLeafType | GraphQLList<GraphQLNonNull<GraphQLLeafType>> {
    const leaf = this.leafType(module, name);
    return module.fields[name]?.type === 'textList' ? new GraphQLList(new GraphQLNonNull(leaf)) : leaf;
  }

  leafType(module: EntityModule, name: string): GraphQLLeafType {
    if (name === 'id' || tenancyField(module.tenancy).includes(name)) return GraphQLID;
    const field = module.fields[name];
    // A field of every record.
    if (!field) return DateTime;
    return field.type === 'choice'
      ? this.#choiceType(choiceName(module, name), field.description, field.values ?? [])
      : scalarOf(field);
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
      description: `${module.description} Lists all records that the caller can view.`,
      args: {
        ...this.#pageArguments(module),
        ...(module.historyOf ? {} : { view: { type: GraphQLID, description: viewDescription } }),
      },
      resolve: async (_source, args: ListArguments, context, info) =>
        context.unit.data.answers.page(
          await this.#viewed(this.#reader(context, info).page(module, args), args, context),
        ),
      extensions: readableInOneStatement((args, context, info) => {
        const reader = this.#reader(context, info);
        const page = reader.page(module, args);
        // The view has to be read first.
        if (reader.needsResolvers || (args as ListArguments).view != null) return undefined;
        return () => context.unit.data.answers.singleStatementPage(page);
      }),
    };
  }

  /** The page as a saved view says, if the request names one. */
  async #viewed(page: PageSelection, args: ListArguments, { unit, services }: GraphqlContext): Promise<PageSelection> {
    if (args.view == null) return page;
    const given = { hasOrder: (args.orderBy?.length ?? 0) > 0, hasSize: args.first != null || args.last != null };
    const largestPage = services.config.current.server.maxresultlimit;
    // The selection of the query decides which fields are returned.
    const viewed = await withSavedView(page, args.view, given, {
      data: unit.data,
      registry: this.registry,
      largestPage,
    });
    return viewed.page;
  }

  #lookUpField(module: EntityModule): FieldConfig {
    return {
      type: new GraphQLNonNull(this.objectOf(module)),
      description: `Returns one ${module.typeName} by id.`,
      args: { id: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the record.' } },
      resolve: (_source, { id }: { id: string }, context, info) =>
        this.read(module, existingId(module, id), context, info),
      extensions: readableInOneStatement(({ id }, context, info) => {
        const existing = existingId(module, id as string);
        const reader = this.#reader(context, info);
        const record = reader.record(module);
        if (reader.needsResolvers) return undefined;
        return () => context.unit.data.answers.singleStatementRecord(record, existing);
      }),
    };
  }
}

interface ListArguments extends PageArguments {
  readonly view?: string | null;
}

/** Fields of every record. */
const recordFields: FieldMap = {
  createdAt: passthroughField(new GraphQLNonNull(DateTime), 'When the record was created.'),
  updatedAt: passthroughField(new GraphQLNonNull(DateTime), 'When the record was last changed.'),
  recordVersion: passthroughField(new GraphQLNonNull(GraphQLInt), 'Version number; each change increases it by one.'),
};

/** History entries share the enums of their kind, and all histories share the enums of their own fields. */
function choiceName({ typeName, historyOf }: EntityModule, field: string): string {
  const owner = historyOf ? (Object.hasOwn(entryFields, field) ? 'History' : historyOf.typeName) : typeName;
  return `${owner}${capitalized(field)}`;
}

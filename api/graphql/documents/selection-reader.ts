import {
  getArgumentValues,
  getDirectiveValues,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  type FieldNode,
  type GraphQLObjectType,
  type SelectionSetNode,
} from 'graphql';
import { maxNameLength } from '#entities/kit/base/max-name-length.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { AppError } from '#entities/kit/base/errors.ts';
import { limitExceeded } from '#entities/kit/base/input-error.ts';
import type {
  EdgePart,
  ListsPart,
  PageInfoPart,
  PagePart,
  PageSelection,
  RecordPart,
  RecordSelection,
} from '#entities/kit/read/selection.ts';
import { numbersOf, type AggregateSelection } from '#entities/kit/read/aggregate.ts';
import { maxOrderTerms, searchPosition } from '#entities/kit/read/order.ts';
import { pluralOf, relationsOf, type Relation } from '#entities/kit/read/relations.ts';
import { defaultOrder } from '#entities/kit/read/from-clause.ts';
import type { FilePart } from '#entities/kit/read/file-selection.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { namedTypes } from './named-types.ts';
import { unstoredPart } from './unstored-part.ts';
import { filePartsOf } from '../file-parts.ts';
import { pageSlice } from '../../http/response/page-slice.ts';
import type { SelectionInfo } from '../single-statement-query.ts';
import type { OperationBudget } from './operation-budget.ts';
import { filterOf, type WhereInput } from '../derived/where-inputs.ts';

/** A selected field of an object type; fields with the same response name are merged. */
interface Selected {
  /** Response name: the alias, or the name of the field. */
  readonly as: string;
  readonly name: string;
  readonly nodes: readonly FieldNode[];
}

/** Name of the interface of all records. */
export const nodeInterface = 'Node';

/** Name of the type of search results. */
export const searchResults = 'SearchResults';

/** Arguments of a list. */
export interface PageArguments {
  readonly first?: number | null;
  readonly last?: number | null;
  readonly after?: string | null;
  readonly before?: string | null;
  readonly where?: WhereInput | null;
  readonly orderBy?: readonly { readonly field: string; readonly direction: 'asc' | 'desc' }[] | null;
}

/** Arguments of an aggregate. */
export interface AggregateArguments extends Pick<PageArguments, 'where' | 'first'> {
  readonly groupBy?: readonly string[] | null;
}

interface SelectionLimits {
  /** `server.maxresultlimit`. */
  readonly largestPage: number;
  readonly budget: OperationBudget;
}

/** Translates the selection sets of an operation into selections of the data layer. */
export class SelectionReader {
  readonly #registry: Registry;
  readonly #info: SelectionInfo;
  readonly #limits: SelectionLimits;
  /** Maximum number of parent records of the selection being read. */
  #above = 1;
  #needsResolvers = false;

  constructor(registry: Registry, info: SelectionInfo, limits: SelectionLimits) {
    this.#registry = registry;
    this.#info = info;
    this.#limits = limits;
  }

  /** Whether something that was selected is made by a resolver, so that what the statement returns is not the answer yet. */
  get needsResolvers(): boolean {
    return this.#needsResolvers;
  }

  /** @throws AppError limit_exceeded, invalid_input */
  record(module: EntityModule, nodes: readonly FieldNode[] = this.#info.fieldNodes): RecordSelection {
    const type = this.#objectType(module.typeName);
    const relations = relationsOf(this.#registry, module);
    const parts = this.#fields(nodes, module.typeName).map((field): RecordPart => {
      const { as, name } = field;
      if (name === '__typename') return { is: 'typename', as };
      const unstored = unstoredPart(this.#registry, module, field);
      if (unstored) return unstored;
      const relation = relations.get(name);
      if (module.fields[name]?.type === 'file' && !module.historyOf)
        return { is: 'file', as, field: name, parts: this.#fileParts(field.nodes) };
      if (!relation) return { is: 'value', as, field: name };
      if (relation.is === 'one') return { is: 'one', as, relation, record: this.record(relation.target, field.nodes) };
      return { is: 'page', as, relation, page: this.#relatedPage(type, relation, field) };
    });
    return { module, parts };
  }

  #fileParts(nodes: readonly FieldNode[]): FilePart[] {
    const { parts, needsResolvers } = filePartsOf(this.#fields(nodes));
    this.#needsResolvers ||= needsResolvers;
    return parts;
  }

  /** The selection for this number of records. @throws AppError limit_exceeded, invalid_input */
  records(module: EntityModule, count: number): RecordSelection {
    return this.#below(count, () => this.record(module));
  }

  /**
   * Selection of records of any of these kinds. Kinds that no fragment names share the selection of `Node`.
   * @param count number of records
   * @throws AppError limit_exceeded, invalid_input
   */
  nodes(modules: readonly EntityModule[], count: number): RecordSelection[] {
    const named = namedTypes(this.#info);
    const others = modules.filter(({ typeName }) => !named.has(typeName));
    const options = modules.filter(({ typeName }) => named.has(typeName)).map((module) => ({ module, kinds: 1 }));
    const [other] = others;
    if (other) options.push({ module: other, kinds: Math.min(others.length, count) });
    const selections = this.#below(count, () =>
      this.#limits.budget.alternatives(options, ({ module }) => this.record(module)),
    );
    const shared = others.length > 0 ? selections.at(-1) : undefined;
    return [...selections, ...others.slice(1).map((module) => ({ module, parts: shared?.parts ?? [] }))];
  }

  /** @throws AppError limit_exceeded, invalid_input */
  page(
    module: EntityModule,
    args: PageArguments,
    nodes: readonly FieldNode[] = this.#info.fieldNodes,
    found?: string,
  ): PageSelection {
    const type = this.#objectType(`${module.typeName}Connection`);
    const where = args.where ? filterOf(this.#registry, module, args.where, this.#spendConditions) : undefined;
    const usual = found === undefined ? defaultOrder(module) : ([{ field: searchPosition, direction: 'asc' }] as const);
    const order = args.orderBy?.length ? args.orderBy : usual;
    if (order.length > maxOrderTerms)
      throw tooLong('orderBy', `accepts at most ${maxOrderTerms} terms; it has ${order.length}`);
    const slice = pageSlice(args, this.#limits.largestPage);
    return {
      module,
      ...(found === undefined ? {} : { found }),
      ...(where ? { filter: where } : {}),
      orderBy: order.map(({ field, direction }) => ({ field, direction })),
      ...slice,
      parts: this.#pageParts(module, type, nodes, slice.size),
    };
  }

  /** @throws AppError limit_exceeded, invalid_input */
  aggregate(module: EntityModule, { where, groupBy, first }: AggregateArguments): AggregateSelection {
    const filter = where ? filterOf(this.#registry, module, where, this.#spendConditions) : undefined;
    const { size } = pageSlice({ first: first ?? null }, this.#limits.largestPage);
    const nodes = this.#fields(this.#info.fieldNodes).find(({ name }) => name === 'numbers')?.nodes ?? [];
    const selected = new Set(this.#fields(nodes).map(({ name }) => name));
    const numbers = numbersOf(module).filter((name) => selected.has(name));
    // Every matching record is read, and each number has four values.
    this.#limits.budget.spend({ records: this.#limits.largestPage, values: size * 4 * numbers.length });
    return { module, ...(filter ? { filter } : {}), groupBy: [...new Set(groupBy)], numbers, size, words: 'capitals' };
  }

  /** Selection of search results: one list for each kind. @throws AppError limit_exceeded, invalid_input */
  searches(modules: readonly EntityModule[], text: string, first: number | undefined): ListsPart[] {
    const byName = new Map(modules.map((module) => [pluralOf(module), module]));
    return this.#fields(this.#info.fieldNodes).map(({ as, name, nodes }): ListsPart => {
      const module = byName.get(name);
      if (!module) return { is: 'typename', as, name: searchResults };
      const args = first === undefined ? {} : { first };
      return { is: 'page', as, page: this.page(module, args, nodes, text) };
    });
  }

  readonly #spendConditions = (conditions: number): void => this.#limits.budget.spend({ conditions });

  /** Reads a selection that applies to each of this number of records. */
  #below<T>(records: number, read: () => T): T {
    const above = this.#above;
    this.#above *= records;
    this.#limits.budget.spend({ records: this.#above });
    const parts = read();
    this.#above = above;
    return parts;
  }

  #relatedPage(type: GraphQLObjectType, relation: Relation, { name, nodes: [node, ...others] }: Selected) {
    const definition = type.getFields()[name];
    if (!definition || !node) throw new Error(`${type.name} has no field ${name}`);
    const args: PageArguments = getArgumentValues(definition, node, this.#info.variableValues);
    return this.page(relation.target, args, [node, ...others]);
  }

  #pageParts(module: EntityModule, type: GraphQLObjectType, nodes: readonly FieldNode[], size: number): PagePart[] {
    const parts = this.#below(size, () => this.#fields(nodes).map((field) => this.#pagePart(module, type, field)));
    // A count reads every matching record, so each is charged like a list of the largest page.
    const counts = parts.filter((part) => part.is === 'totalCount').length;
    this.#limits.budget.spend({ records: counts * this.#above * this.#limits.largestPage });
    return parts;
  }

  #pagePart(module: EntityModule, type: GraphQLObjectType, { as, name, nodes }: Selected): PagePart {
    switch (name) {
      case '__typename':
        return { is: 'typename', as, name: type.name };
      case 'totalCount':
        return { is: 'totalCount', as };
      case 'pageInfo':
        return { is: 'pageInfo', as, parts: this.#fields(nodes).map(pageInfoPart) };
      case 'edges': {
        const edge = this.#objectType(`${module.typeName}Edge`);
        return {
          is: 'edges',
          as,
          parts: this.#fields(nodes).map((field) => this.#edgePart(module, edge, field)),
        };
      }
      default:
        throw new Error(`${type.name} has no field ${name}`);
    }
  }

  #edgePart(module: EntityModule, type: GraphQLObjectType, { as, name, nodes }: Selected): EdgePart {
    if (name === '__typename') return { is: 'typename', as, name: type.name };
    return name === 'cursor' ? { is: 'cursor', as } : { is: 'node', as, record: this.record(module, nodes) };
  }

  #objectType(name: string): GraphQLObjectType {
    return this.#info.schema.getType(name) as GraphQLObjectType;
  }

  /**
   * The selected fields of an object type, with fragments expanded and `@skip` and `@include` applied.
   * @param type name of the type, where fragments may be on other types as well
   */
  #fields(nodes: readonly FieldNode[], type?: string): Selected[] {
    const found = new Map<string, { name: string; nodes: FieldNode[] }>();
    const visited = new Set<string>();
    for (const { selectionSet } of nodes) if (selectionSet) this.#collect(selectionSet, found, visited, type);
    this.#limits.budget.spend({ fields: found.size, values: found.size * this.#above });
    return [...found].map(([as, field]) => ({ as, ...field }));
  }

  #collect(
    { selections }: SelectionSetNode,
    found: Map<string, { name: string; nodes: FieldNode[] }>,
    visited: Set<string>,
    type: string | undefined,
  ): void {
    const isOther = (on: string | undefined) => ![undefined, type, nodeInterface].includes(on) && type !== undefined;
    for (const node of selections) {
      if (getDirectiveValues(GraphQLSkipDirective, node, this.#info.variableValues)?.['if'] === true) continue;
      if (getDirectiveValues(GraphQLIncludeDirective, node, this.#info.variableValues)?.['if'] === false) continue;
      if (node.kind === Kind.FIELD) {
        const as = node.alias?.value ?? node.name.value;
        if (as.length > maxNameLength)
          throw tooLong(
            'query',
            `has a name or an alias of ${as.length} characters; at most ${maxNameLength} are possible`,
          );
        const field = found.get(as);
        if (field) field.nodes.push(node);
        else found.set(as, { name: node.name.value, nodes: [node] });
        continue;
      }
      if (node.kind === Kind.INLINE_FRAGMENT) {
        if (!isOther(node.typeCondition?.name.value)) this.#collect(node.selectionSet, found, visited, type);
        continue;
      }
      const name = node.name.value;
      const fragment = this.#info.fragments[name];
      if (!fragment || visited.has(name) || isOther(fragment.typeCondition.name.value)) continue;
      visited.add(name);
      this.#collect(fragment.selectionSet, found, visited, type);
    }
  }
}

function tooLong(name: string, problem: string): AppError {
  return limitExceeded(`${name} ${problem}.`, { path: `/${name}`, message: problem });
}

function pageInfoPart({ as, name }: Selected): PageInfoPart {
  if (name === '__typename') return { is: 'typename', as, name: 'PageInfo' };
  return { is: name as 'hasNextPage' | 'hasPreviousPage' | 'startCursor' | 'endCursor', as };
}

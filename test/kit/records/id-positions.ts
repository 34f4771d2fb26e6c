import {
  GraphQLID,
  GraphQLNonNull,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { Field } from '#entities/kit/model/declared-field.ts';
import { pluralOf, relationsOf } from '#entities/kit/read/relations.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { noSampleValue, sampleValue } from './sample-field-value.ts';

/** A place of an operation where an id, or what was made of one, can stand. */
export interface IdPosition {
  readonly operation: 'query' | 'mutation';
  readonly field: string;
  /** Operation of the field, the same for all kinds (`updateBulk`, `list`), or its name if it belongs to no kind. */
  readonly family: string;
  /** `where.parent.id.eq`, `inputs.0.taskId`, … */
  readonly path: string;
  /** Kind of the records whose ids belong there; undefined when it may be any. */
  readonly module: EntityModule | undefined;
  /** `upload`: the id of an upload, which belongs to a caller and not to a record. */
  readonly takes: 'id' | 'cursor' | 'text' | 'upload';
  readonly document: string;
  /** Variables of the operation with this value in the place, and values that are right in all others. */
  readonly variables: (value: string, own: OwnIds) => Record<string, unknown>;
}

/** Ids of the caller's own records by kind. */
export type OwnIds = ReadonlyMap<string, string>;

type Path = readonly (string | number)[];
type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value };

interface Slot {
  readonly path: Path;
  readonly module: EntityModule | undefined;
  readonly takes: IdPosition['takes'];
}

/** Relations that a filter is followed through; more is the same again. */
const deepest = 1;

/** Every place for an id in every root field of the schema; it grows with every kind, and with every field of the schema. */
export function idPositions(schema: GraphQLSchema, registry: Registry): IdPosition[] {
  return new PositionFinder(schema, registry).positions();
}

class PositionFinder {
  readonly #schema: GraphQLSchema;
  readonly #registry: Registry;
  /** Derived root fields by name: of which kind, and what they do. */
  readonly #derived = new Map<string, { readonly module: EntityModule; readonly family: string }>();
  /** Values of fields, each the same at every place: answers are compared. */
  readonly #samples = new Map<Field, Value>();

  constructor(schema: GraphQLSchema, registry: Registry) {
    this.#schema = schema;
    this.#registry = registry;
    for (const module of registry.modules) {
      const { kind, typeName } = module;
      const verbs = ['create', 'update', 'delete'].flatMap((verb) => [verb, `${verb}Bulk`, `${verb}BulkCSV`]);
      const families: Record<string, string> = {
        [kind]: 'record',
        [pluralOf(module)]: 'list',
        [`${kind}Histories`]: 'histories',
        [`${kind}Aggregates`]: 'aggregates',
        [`${kind}Search`]: 'search of a kind',
        ...Object.fromEntries(verbs.map((verb) => [verb + typeName, verb])),
      };
      for (const [name, family] of Object.entries(families)) this.#derived.set(name, { module, family });
    }
  }

  positions(): IdPosition[] {
    const roots = [
      ['query', this.#schema.getQueryType()],
      ['mutation', this.#schema.getMutationType()],
    ] as const;
    return roots.flatMap(([operation, type]) =>
      Object.values(type?.getFields() ?? {}).flatMap((field) => this.#ofField(operation, field)),
    );
  }

  #ofField(operation: IdPosition['operation'], field: GraphQLField<unknown, unknown>): IdPosition[] {
    const { module, family = field.name } = this.#derived.get(field.name) ?? {};
    const declared = field.args.map(({ name, type }) => `$${name}: ${String(type)}`);
    const given = field.args.map(({ name }) => `${name}: $${name}`);
    const document = `${operation} ${declared.length > 0 ? `(${declared.join(', ')})` : ''} {
      ${field.name}${given.length > 0 ? `(${given.join(', ')})` : ''} ${bounded(field.type)} }`;
    const isCsv = field.args.some(({ name }) => name === 'csv');
    if (isCsv && module) return this.#ofCsv(field, module, { operation, field: field.name, family, document });
    return field.args.flatMap(({ name, type }) =>
      this.#slots(type, [name], module, 0).map(({ path, module: of, takes }): IdPosition => ({
        operation,
        field: field.name,
        family,
        path: path.join('.'),
        module: of,
        takes,
        document,
        variables: (value, own) => {
          const needed = field.args.filter((arg) => isNonNullType(arg.type));
          return {
            ...Object.fromEntries(needed.map((arg) => [arg.name, this.#right(arg.type, [arg.name], module, own)])),
            [name]: this.#placed(type, [name], path.slice(1), value, module, own),
          };
        },
      })),
    );
  }

  /** The columns of a CSV document that hold ids. */
  #ofCsv(
    { name: fieldName }: GraphQLField<unknown, unknown>,
    module: EntityModule,
    rest: Pick<IdPosition, 'operation' | 'field' | 'family' | 'document'>,
  ): IdPosition[] {
    const isUpdate = fieldName.startsWith('update');
    const input = this.#schema.getType(`${isUpdate ? 'Update' : 'Create'}${module.typeName}Input`);
    if (!isInputObjectType(input)) throw new Error(`${fieldName} has no input`);
    // The column that says which record changes is no field of the input.
    const key = { name: 'id', type: new GraphQLNonNull(GraphQLID) };
    const all: { name: string; type: GraphQLInputType }[] = [
      ...(isUpdate ? [key] : []),
      ...Object.values(input.getFields()),
    ];
    return (
      all
        .filter(({ type }) => ['ID', 'Upload'].includes(getNamedType(type).name))
        // Links such as `addGroupIds` are lists and no fields; a document has no columns for them.
        .filter(({ name, type }) => module.fields[name] !== undefined || !isListType(getNullableType(type)))
        .map(({ name, type }): IdPosition => ({
          ...rest,
          path: `csv.${name}`,
          module: this.#kindOf([name], module),
          takes: getNamedType(type).name === 'Upload' ? 'upload' : 'id',
          variables: (value, own) => {
            const columns = all.filter((field) => field.name === name || isNonNullType(field.type));
            const cells = columns.map((field) =>
              field.name === name ? value : plainText(this.#right(field.type, [field.name], module, own)),
            );
            return { csv: `${columns.map((field) => field.name).join()}\n${cells.map(quoted).join()}\n` };
          },
        }))
    );
  }

  /** Places for ids below an input. */
  #slots(type: GraphQLInputType, path: Path, module: EntityModule | undefined, depth: number): Slot[] {
    if (isNonNullType(type)) return this.#slots(type.ofType, path, module, depth);
    if (isListType(type)) return this.#slots(type.ofType, [...path, 0], module, depth);
    if (isInputObjectType(type)) {
      return Object.values(type.getFields()).flatMap(({ name, type: inner }) => {
        if (['and', 'or', 'not', 'ne', 'notIn', 'gt', 'gte', 'lt', 'lte'].includes(name)) return [];
        const below = module && (this.#below(module, name) ?? this.#filteredBy(inner));
        if (below && depth >= deepest) return [];
        return this.#slots(inner, [...path, name], below ?? module, depth + (below ? 1 : 0));
      });
    }
    const named = getNamedType(type).name;
    if (named === 'ID') return [{ path, module: this.#kindOf(path, module), takes: 'id' }];
    if (named === 'Upload') return [{ path, module, takes: 'upload' }];
    const last = path.at(-1);
    if (named === 'String' && (last === 'after' || last === 'before')) return [{ path, module, takes: 'cursor' }];
    return named === 'String' && last === 'query' ? [{ path, module, takes: 'text' }] : [];
  }

  /** The kind of a filter; a history has relations that no field of its kind declares. */
  #filteredBy(type: GraphQLInputType): EntityModule | undefined {
    const { name } = getNamedType(type);
    return this.#registry.modules.find(({ typeName }) => name === `${typeName}Where`);
  }

  /** The kind that a relation leads to, in filters and in creations through it. */
  #below(module: EntityModule, name: string): EntityModule | undefined {
    const relations = relationsOf(this.#registry, module);
    const created = name.replace(/^create(.)/, (_all, letter: string) => letter.toLowerCase());
    return (relations.get(name) ?? (created === name ? undefined : relations.get(created)))?.target;
  }

  #kindOf(path: Path, module: EntityModule | undefined): EntityModule | undefined {
    const name = path.findLast((part) => typeof part === 'string' && !['eq', 'in'].includes(part)) as string;
    if (name === 'userId' && !module?.fields['userId']) return this.#registry.byKind('user');
    if (name === 'organizationId') return this.#registry.byKind('organization');
    const target = module?.fields[name]?.target;
    return target === undefined ? module : this.#registry.byKind(target);
  }

  /** The value in its place, and around it only what has to be. */
  #placed(
    type: GraphQLInputType,
    path: Path,
    rest: Path,
    value: string,
    module: EntityModule | undefined,
    own: OwnIds,
  ): Value {
    if (isNonNullType(type)) return this.#placed(type.ofType, path, rest, value, module, own);
    const [next, ...further] = rest;
    if (next === undefined) return value;
    if (isListType(type)) return [this.#placed(type.ofType, [...path, next], further, value, module, own)];
    if (!isInputObjectType(type)) throw new Error(`${path.join('.')} cannot hold ${next}`);
    const inner = type.getFields()[next]?.type;
    if (!inner) throw new Error(`${type.name} has no ${next}`);
    const below = (module && this.#below(module, String(next))) ?? module;
    return {
      ...(this.#right(type, path, module, own) as Record<string, Value>),
      [next]: this.#placed(inner, [...path, next], further, value, below, own),
    };
  }

  /** A value that is right there: only what has to be. */
  #right(type: GraphQLInputType, path: Path, module: EntityModule | undefined, own: OwnIds): Value {
    if (isNonNullType(type)) return this.#right(type.ofType, path, module, own);
    if (isListType(type)) return [this.#right(type.ofType, [...path, 0], module, own)];
    if (isEnumType(type)) return type.getValues()[0]?.name ?? '';
    if (isInputObjectType(type)) {
      const needed = Object.values(type.getFields()).filter((field) => isNonNullType(field.type));
      return Object.fromEntries(
        needed.map((field) => [field.name, this.#right(field.type, [...path, field.name], module, own)]),
      );
    }
    if (getNamedType(type).name === 'ID') return own.get(this.#kindOf(path, module)?.kind ?? 'task') ?? '';
    if (getNamedType(type).name === 'Upload') return own.get('upload') ?? '';
    const name = String(path.at(-1));
    const field = module?.fields[name];
    return module && field ? this.#sample(module.kind, name, field) : plainValue(type);
  }

  #sample(kind: string, name: string, field: Field): Value {
    const known = this.#samples.get(field) ?? sampleValue(field, new Date(someTime));
    if (known === undefined) throw noSampleValue(kind, name);
    const value = (known instanceof Date ? someTime : known) as Value;
    this.#samples.set(field, value);
    return value;
  }
}

const someTime = '2026-01-31T12:00:00Z';

/** Of an argument that is no field of a kind. */
function plainValue(type: GraphQLInputType): Value {
  switch (getNamedType(type).name) {
    case 'Int':
      return 1;
    case 'Boolean':
      return true;
    case 'DateTime':
      return someTime;
    default:
      return 'some text';
  }
}

/** Fields that an operation may select by default (`server.complexitylimit`). */
const maxFields = 100;

/** As deep a selection as the limit allows, of at most three levels. */
function bounded(type: GraphQLOutputType): string {
  const depths = [3, 2].map((depth) => selection(type, depth));
  return depths.find((deep) => deep.split(/\s+/).length < maxFields) ?? selection(type, 1);
}

function quoted(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}

function plainText(value: Value): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value);
}

/** All that can be selected without arguments, so many levels deep. */
function selection(type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return '';
  if (!isObjectType(named)) return '{ __typename id }';
  const parts = Object.values(named.getFields()).flatMap((field) => {
    if (field.args.some((arg) => isNonNullType(arg.type))) return [];
    if (isLeafType(getNamedType(field.type))) return [field.name];
    // Lists below a record are lists of their own.
    if (depth <= 1 || field.args.length > 0) return [];
    return [`${field.name} ${selection(field.type, depth - 1)}`];
  });
  return `{ __typename ${parts.join(' ')} }`;
}

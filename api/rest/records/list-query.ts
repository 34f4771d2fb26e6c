import { Type, type TObject, type TSchema } from 'typebox';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import type { Field } from '#entities/kit/model/declared-field.ts';
import type { FieldProblem } from '#entities/kit/base/errors.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { parseInstant } from '#entities/kit/base/instant.ts';
import { mismatch } from '#entities/kit/base/schema-problem.ts';
import type { PageSelection, RecordSelection } from '#entities/kit/read/selection.ts';
import { maxCursorLength, maxOrderTerms, type OrderTerm } from '#entities/kit/read/order.ts';
import { relationsOf, type ToMany } from '#entities/kit/read/relations.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import type { Comparison, Filter } from '#entities/kit/read/filter.ts';
import { nullOperandProblem, operandProblem, partOfText } from '#entities/kit/read/operand-problem.ts';
import {
  equalityOperators,
  filteredType,
  holdsIds,
  maxOperandValues,
  operatorsOf,
  partOperators,
  type Operator,
} from '#entities/kit/read/operators.ts';
import { filterableFields, orderableFields } from '#entities/kit/read/where.ts';
import { viewColumnsDescription, viewDescription } from '../../people/apply-saved-view.ts';
import { pageSlice, defaultPageSize, type SliceArguments } from '../../http/response/page-slice.ts';
import { wantedText } from '#entities/kit/read/search-text.ts';
import { openProposalFilter, openProposalParameter } from './open-proposal-filter.ts';
import { bestFirst, pageParts, searchText } from './record-pages.ts';
import { inRestNames, valueSchema, type JsonSchema } from '../../http/value-schema.ts';
import { idSchema, idText } from '../../http/request-schemas.ts';

/** Query parameters of a list: page, order, count, and filters. */
interface ListQuery extends SliceArguments {
  readonly order_by?: string;
  readonly count?: boolean;
  readonly search?: string;
  readonly [filter: string]: unknown;
}

const cursor = (description: string) => Type.Optional(Type.String({ maxLength: maxCursorLength, description }));
const size = (description: string) => Type.Optional(Type.Integer({ description }));

/** @throws TypeError when a filter has the name of another parameter */
export function listQuerySchema(registry: Registry, module: EntityModule): TObject {
  const common = pageParameters(module);
  return Type.Object({ ...common, ...filterParameters(registry, module, common) }, { additionalProperties: false });
}

function pageParameters(module: EntityModule): Record<string, TSchema> {
  const orders = orderableFields(module).map(snakeCase);
  const term = `-?(?:${orders.join('|')})`;
  return {
    first: size(`Number of records from the start of the list. Without first and last: ${defaultPageSize}.`),
    after: cursor('Only records after this cursor.'),
    last: size('Number of records from the end of the list.'),
    before: cursor('Only records before this cursor.'),
    order_by: Type.Optional(
      Type.String({
        maxLength: 500,
        pattern: `^${term}(?:,${term}){0,${maxOrderTerms - 1}}$`,
        description: `Fields to sort by, separated by commas, with a minus before those in descending order: ${orders.join(', ')}.`,
      }),
    ),
    view: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: `${viewDescription} ${viewColumnsDescription}` }),
    ),
    ...(module.search ? { search: Type.Optional(searchText) } : {}),
    count: Type.Optional(
      Type.Boolean({ description: 'Whether to return the number of all matching records as total_count.' }),
    ),
  };
}

/**
 * The parameters that filter a list.
 * @param others the other parameters of the request
 * @throws TypeError when a filter has the name of another parameter
 */
export function filterParameters(
  registry: Registry,
  module: EntityModule,
  others: Readonly<Record<string, TSchema>>,
): Record<string, TSchema> {
  const filters = filtersOf(module).flatMap((filter): [string, TSchema][] => {
    if (Object.hasOwn(others, filter.name))
      throw new TypeError(`entity "${module.kind}": REST lists use "${filter.name}" themselves`);
    return [
      [filter.name, plainSchema(module, filter)],
      ...operatorsOf(module, filter.field).map((operator): [string, TSchema] => [
        parameterName(filter, operator),
        operandSchema(module, filter, operator),
      ]),
    ];
  });
  const linked = linkedLists(registry, module).map(({ name, relation: { target } }): [string, TSchema] => [
    name,
    Type.Optional(idSchema(`Only records that are linked with this ${target.typeName}, by its id.`)),
  ]);
  return { ...Object.fromEntries([...linked, ...filters]), ...(module.automation ? openProposalParameter : {}) };
}

/**
 * Translates the query parameters into a selection.
 * @param largestPage `server.maxresultlimit`
 * @throws AppError limit_exceeded, invalid_input
 */
export function listSelection(
  registry: Registry,
  record: RecordSelection,
  query: ListQuery,
  largestPage: number,
): PageSelection {
  const { module } = record;
  return {
    module,
    ...listFilter(registry, module, query),
    ...(query.search === undefined ? {} : { found: wantedText(query.search, '/search') }),
    orderBy:
      query.order_by === undefined && query.search !== undefined ? bestFirst : orderTerms(module, query.order_by),
    ...pageSlice(query, largestPage),
    parts: [...pageParts(record), ...(query.count === true ? [{ is: 'totalCount', as: 'total_count' } as const] : [])],
  };
}

/** The filter in the query parameters, if there is one. @throws AppError invalid_input */
export function listFilter(
  registry: Registry,
  module: EntityModule,
  query: Readonly<Record<string, unknown>>,
): { readonly filter?: Filter } {
  const problems: FieldProblem[] = [];
  const stored = (of: EntityModule, field: string, operator: keyof Comparison, operand: unknown, parameter: string) =>
    storedOperand({ registry, module: of, field, operator, problems }, operand, `/${parameter}`);
  const linked = new Map<string, Filter>();
  for (const { name, relation } of linkedLists(registry, module)) {
    if (query[name] === undefined || query[name] === null) continue;
    const id = stored(relation.target, 'id', 'eq', query[name], name);
    linked.set(name, { is: 'related', relation, filter: { is: 'field', field: 'id', comparison: { eq: id } } });
  }
  /** A record that names the other one in a field of its own is linked with it, too. */
  const orLinked = (name: string, filter: Filter): Filter => {
    const link = linked.get(name);
    linked.delete(name);
    return link ? { is: 'or', filters: [filter, link] } : filter;
  };
  const plainComparison = (field: string, operand: unknown, parameter: string): Comparison => {
    if (operand === null) return { isNull: true };
    if (filteredType(module, field) === 'textList')
      return { has: stored(module, field, 'has', operand, parameter) as string };
    return { eq: stored(module, field, 'eq', operand, parameter) };
  };
  const own = filtersOf(module).flatMap((filter): Filter[] => {
    const { field } = filter;
    const plain = query[filter.name];
    const given = operatorsOf(module, field).flatMap((operator): [string, unknown][] => {
      const name = parameterName(filter, operator);
      const operand = query[name];
      return operand === undefined ? [] : [[operator.name, stored(module, field, operator.name, operand, name)]];
    });
    return [
      ...(plain === undefined
        ? []
        : [orLinked(filter.name, { is: 'field', field, comparison: plainComparison(field, plain, filter.name) })]),
      ...(given.length === 0 ? [] : [{ is: 'field', field, comparison: Object.fromEntries(given) } as const]),
    ];
  });
  // A field and a link can have the same parameter.
  const distinct = new Map(problems.map((problem) => [`${problem.path} ${problem.message}`, problem]));
  if (distinct.size > 0) throw inputError([...distinct.values()]);
  const filters = [...own, ...linked.values(), ...openProposalFilter(registry, module, query['has_open_proposal'])];
  return filters.length === 0 ? {} : { filter: { is: 'and', filters } };
}

/** A field by which the list can be filtered, and its name in the query. */
interface ListFilter {
  readonly name: string;
  readonly field: string;
}

/** Relations to linked records, each with the name of the parameter for the id of one of them. */
function linkedLists(registry: Registry, module: EntityModule): { readonly name: string; readonly relation: ToMany }[] {
  return [...relationsOf(registry, module).values()].flatMap((relation) =>
    relation.is === 'many' && relation.via ? [{ name: snakeCase(relation.via.other), relation }] : [],
  );
}

function filtersOf(module: EntityModule): ListFilter[] {
  return filterableFields(module).map((field) => ({ name: snakeCase(field), field }));
}

/** The operators have the names of GraphQL, in snake_case: `due_at[gte]`. */
function parameterName({ name }: ListFilter, operator: Operator): string {
  return `${name}[${snakeCase(operator.name)}]`;
}

/** The parameter without an operator. */
function plainSchema(module: EntityModule, { field: name }: ListFilter): TSchema {
  const field = module.fields[name];
  const schema = valueSchemaOf(module, name);
  const description = inRestNames(field?.description ?? 'Equal to this value.');
  if (field?.type === 'textList')
    return Type.Optional(
      Type.Unsafe({ ...schema, description: `Only records whose list contains this value. ${description}` }),
    );
  if (!acceptsNull(field)) return Type.Optional(Type.Unsafe({ ...schema, description }));
  return Type.Optional(
    Type.Unsafe({
      ...schema,
      type: [schema.type, 'null'],
      ...(schema.enum ? { enum: [...schema.enum, null] } : {}),
      description: `${description} null: only records without a value.`,
    }),
  );
}

/** Whether the word null stands for no value; a text could be this word. */
function acceptsNull(field: Field | undefined): boolean {
  return field?.optional === true && field.type !== 'text';
}

function operandSchema(module: EntityModule, { field }: ListFilter, { name, operand, description }: Operator): TSchema {
  if (operand === 'flag') return Type.Optional(Type.Boolean({ description }));
  // Equality compares whole ids; the other operators take any text.
  const isWhole = holdsIds(module, field) && equalityOperators.has(name);
  const isText = filteredType(module, field) === 'text' && !isWhole;
  const ofText = partOperators.has(name) ? partSchema : anyText;
  const schema = isText ? ofText : valueSchemaOf(module, field);
  if (operand === 'value') return Type.Optional(Type.Unsafe({ ...schema, description }));
  const several = isText
    ? 'Repeat the parameter for several texts; a comma is part of a text.'
    : 'Repeat the parameter for several values, or separate them by commas.';
  return Type.Optional(
    Type.Unsafe({
      type: 'array',
      // The media type marks what the query is not split at (query-values.ts).
      items: isText ? { ...schema, contentMediaType: 'text/plain' } : schema,
      maxItems: maxOperandValues,
      description: `${description} ${several}`,
    }),
  );
}

/** Operands are compared with texts of any form. */
const anyText = { type: 'string', maxLength: 500 } as const;

/** Every text contains the empty one, and one without a matched form; the refusal says so. */
const partSchema = { ...anyText, [describedKeyword]: { pattern: partOfText } } as const;

/** Schema of one value with which the field is compared. */
function valueSchemaOf(module: EntityModule, name: string): JsonSchema {
  const field = module.fields[name];
  // A value that is no id is refused with the same words as in GraphQL (operandProblem).
  if (holdsIds(module, name)) return idText;
  const type = filteredType(module, name);
  if (!field) return { type: 'string', format: 'date-time', maxLength: 40 };
  return type === 'textList' ? ((field.schema as { readonly items?: JsonSchema }).items ?? {}) : valueSchema(field);
}

/** Field with which an operand is compared, and the list of its problems. */
interface OperandOf {
  readonly registry: Registry;
  readonly module: EntityModule;
  readonly field: string;
  readonly operator: keyof Comparison;
  readonly problems: FieldProblem[];
}

/** The operand in its stored form. The schema of the query has accepted what JavaScript does not have as a time, such as leap seconds, and what is no id. */
function storedOperand(of: OperandOf, operand: unknown, path: string): unknown {
  if (Array.isArray(operand)) return operand.map((each: unknown, index) => storedOperand(of, each, `${path}/${index}`));
  const { registry, module, field, operator, problems } = of;
  const isNull = operand === 'null' && filteredType(module, field) !== 'text';
  const problem = isNull
    ? nullOperandProblem(module, field, `${snakeCase(field)}[is_null]=true`)
    : operandProblem(registry, module, field, operator, operand);
  if (problem !== undefined) problems.push({ path, message: problem });
  if (isNull || filteredType(module, field) !== 'timestamp' || typeof operand !== 'string') return operand;
  const instant = parseInstant(operand);
  if (!instant) problems.push({ path, message: mismatch('date-time', operand) });
  return instant;
}

/** The schema has rejected unknown names. */
function orderTerms(module: EntityModule, text: string | undefined): OrderTerm[] {
  if (text === undefined) return [];
  const byName = new Map(orderableFields(module).map((field) => [snakeCase(field), field]));
  return text.split(',').map((term): OrderTerm => {
    const isDescending = term.startsWith('-');
    const field = byName.get(isDescending ? term.slice(1) : term) as string;
    return { field, direction: isDescending ? 'desc' : 'asc' };
  });
}

import { createHash } from 'node:crypto';
import { snakeCase } from '../base/snake-case.ts';
import type { EntityModule } from '../model/define.ts';
import { indexedBeginning } from './matched-form.ts';
import { isOrderedText, textOrder } from './text-order.ts';

/** An index declared by a complete SQL statement. */
export interface NamedExpression {
  readonly name: string;
  readonly expression: string;
}

interface ColumnsIndex {
  readonly name: string;
  readonly properties: string[];
  readonly where: string;
}

const live = 'deleted_at is null';

/**
 * Indexes for every declared filter and order of an organization's records, and for the default order. They begin with the
 * organization's id.
 */
export function listIndexes(module: EntityModule): (ColumnsIndex | NamedExpression)[] {
  const { indexes = [], tenancy, rlsUsing, unique = [] } = module;
  const declared = indexes.map((index) =>
    'where' in index ? columnsIndex(module, index.fields, `${live} and ${index.where}`) : columnsIndex(module, index),
  );
  if (tenancy !== 'organization') return declared;
  const orders = [...new Set([...module.order, 'createdAt', 'updatedAt'])];
  const keys = new Set(unique.map(({ fields }) => fields.join()));
  const names = [...new Set([...module.filter, ...orders])]
    .filter((name) => name !== 'organizationId' && module.fields[name]?.type !== 'textList')
    .filter((name) => isOrderedText(module, name) || !keys.has(['organizationId', name].join()));
  // With `rlsUsing`, lists can span organizations, and an index that begins with the organization's id has no order across them.
  const ranges = rlsUsing ? [['organizationId'], []] : [['organizationId']];
  return [
    ...declared,
    columnsIndex(module, ['organizationId', 'id']),
    ...names.map((name) => listIndex(module, ['organizationId'], name)),
    ...(rlsUsing ? orders.map((name) => listIndex(module, [], name)) : []),
    ...orders
      .filter((name) => module.fields[name]?.optional)
      .flatMap((name) => ranges.map((before) => descendingIndex(module, before, name))),
    ...(rlsUsing ? [] : module.filter.filter((name) => module.fields[name]?.type === 'text')).map((name) =>
      beginningIndex(module, name),
    ),
  ];
}

function columnsIndex({ table }: EntityModule, fields: readonly string[], where = live): ColumnsIndex {
  const name = withinLimit(`${table}_${fields.map(snakeCase).join('_')}_index`);
  return { name, properties: [...fields], where };
}

function listIndex(module: EntityModule, before: readonly string[], name: string): ColumnsIndex | NamedExpression {
  if (!isOrderedText(module, name)) return columnsIndex(module, [...before, name, 'id']);
  return expressionIndex(module, [...before, name, 'order'], [...before, name], `collate ${textOrder}`);
}

/** Records without a value come last in both directions, so the ascending index is the descending order only where all have one. */
function descendingIndex(module: EntityModule, before: readonly string[], name: string): NamedExpression {
  const collation = isOrderedText(module, name) ? `collate ${textOrder} ` : '';
  return expressionIndex(
    module,
    [...before, name, 'descending'],
    [...before, name],
    `${collation}desc nulls last`,
    'id desc',
  );
}

/** For `startsWith`, which `records_beginning` looks up. */
function beginningIndex({ table }: EntityModule, name: string): NamedExpression {
  const expression = `left(matched_form(${snakeCase(name)}), ${indexedBeginning}) collate "C"`;
  const index = `${table}_${snakeCase(name)}_beginning`;
  return {
    name: index,
    expression: `create index "${index}" on "${table}" (organization_id, (${expression})) where ${live}`,
  };
}

function expressionIndex(
  { table }: EntityModule,
  words: readonly string[],
  fields: readonly string[],
  last: string,
  id = 'id',
): NamedExpression {
  const name = withinLimit(`${table}_${words.map(snakeCase).join('_')}`);
  const columns = `${fields.map(snakeCase).join(', ')} ${last}, ${id}`;
  return { name, expression: `create index "${name}" on "${table}" (${columns}) where ${live}` };
}

/** Characters of a name in PostgreSQL, which would cut the rest off. */
const maxNameLength = 63;

function withinLimit(name: string): string {
  if (name.length <= maxNameLength) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name.slice(0, maxNameLength - digest.length - 1)}_${digest}`;
}

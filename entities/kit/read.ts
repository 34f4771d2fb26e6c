import { sql } from 'kysely';
import type { Caller } from './caller.ts';
import { snakeCase, tenancyField, type EntityModule } from './define.ts';
import { AppError } from './errors.ts';
import { decideByCaller, type Condition, type Rule } from './policy.ts';
import { compileSql, type Sql } from './sql.ts';

/** Comparisons of one field. */
export interface Comparison {
  readonly eq?: unknown;
  readonly ne?: unknown;
  readonly in?: readonly unknown[];
  readonly gt?: unknown;
  readonly gte?: unknown;
  readonly lt?: unknown;
  readonly lte?: unknown;
  readonly isNull?: boolean;
}

export type Where = Readonly<Record<string, Comparison>>;

export interface ReadQuery {
  readonly where?: Where;
  readonly orderBy?: readonly { readonly field: string; readonly direction: 'asc' | 'desc' }[];
  readonly limit: number;
  /** Locks the rows until the end of the transaction, for a change that depends on what was read. */
  readonly forUpdate?: boolean;
}

const recordColumns = [
  'id',
  'createdAt',
  'updatedAt',
  'createdBy',
  'updatedBy',
  'recordVersion',
  'deletedAt',
  'deletedBy',
];

/** All columns of a kind as field names, secrets included: rows stay inside the data layer until they are presented. */
export function fieldNames(module: EntityModule): string[] {
  return [...recordColumns, ...tenancyField(module.tenancy), ...Object.keys(module.fields)];
}

/**
 * Compiles one read: tenancy, soft delete and rules stand in its WHERE, values are bound.
 * @throws AppError invalid_input for a field the kind does not have
 */
export function compileRead(
  module: EntityModule,
  query: ReadQuery,
  caller: Caller,
): { text: string; values: readonly unknown[] } {
  const columns = sql.join(fieldNames(module).map((name) => sql`${column(name)} as ${sql.id(name)}`));
  const conditions = [
    sql`row.deleted_at is null`,
    tenancyPredicate(module, caller),
    rulePredicate(module.policy?.view ?? [], caller),
    ...Object.entries(query.where ?? {}).flatMap(([name, comparison]) => comparisons(module, name, comparison)),
  ];
  const order = [...(query.orderBy ?? []), { field: 'id', direction: 'asc' as const }].map(
    ({ field, direction }) => sql`${column(knownField(module, field))} ${direction === 'desc' ? sql`desc` : sql`asc`}`,
  );
  const statement = sql`select ${columns} from ${sql.table(module.table)} as row
    where ${sql.join(conditions, sql` and `)} order by ${sql.join(order)} limit ${query.limit}
    ${query.forUpdate ? sql`for update of row` : sql``}`;
  return compileSql(statement);
}

function column(name: string): Sql {
  return sql`row.${sql.id(snakeCase(name))}`;
}

function knownField(module: EntityModule, name: string): string {
  if (fieldNames(module).includes(name)) return name;
  throw new AppError('invalid_input', `${module.typeName} has no field "${name}".`);
}

/** First wall: the tenant filter. A caller without organization sees no tenant rows. */
function tenancyPredicate(module: EntityModule, caller: Caller): Sql {
  if (module.tenancy !== 'organization' || module.wall) return sql`true`;
  if (caller.organizationId !== null) return sql`row.organization_id = ${caller.organizationId}`;
  return caller.kind === 'system' ? sql`true` : sql`false`;
}

/** First rule that applies decides; after the last one queries are allowed. */
export function rulePredicate(rules: readonly Rule[], caller: Caller): Sql {
  const [rule, ...rest] = rules;
  if (!rule) return sql`true`;
  const decided = decideByCaller(rule.when, caller);
  if (decided === true) return rule.effect === 'allow' ? sql`true` : sql`false`;
  if (decided === false) return rulePredicate(rest, caller);
  const applies = conditionPredicate(rule.when, caller);
  const otherwise = rulePredicate(rest, caller);
  return rule.effect === 'allow' ? sql`(${applies} or ${otherwise})` : sql`(not ${applies} and ${otherwise})`;
}

function conditionPredicate(condition: Condition, caller: Caller): Sql {
  switch (condition.is) {
    case 'self':
      return sql`${column(condition.field)} = ${caller.subjectId}`;
    case 'member-of':
      return sql`exists (select 1 from memberships m where m.organization_id = ${column(condition.field)}
        and m.user_id = ${caller.subjectId} and m.deleted_at is null)`;
    case 'anyone':
    case 'system':
    case 'signed-in':
    case 'role':
      throw new Error(`condition "${condition.is}" is decided by the caller alone`);
    default:
      condition satisfies never;
      throw new Error('unknown condition');
  }
}

function comparisons(module: EntityModule, name: string, comparison: Comparison): Sql[] {
  const left = column(knownField(module, name));
  return Object.entries(comparison).map(([operator, value]) => {
    switch (operator as keyof Comparison) {
      case 'eq':
        return sql`${left} = ${value}`;
      case 'ne':
        return sql`${left} <> ${value}`;
      case 'in':
        return sql`${left} = any(${value})`;
      case 'gt':
        return sql`${left} > ${value}`;
      case 'gte':
        return sql`${left} >= ${value}`;
      case 'lt':
        return sql`${left} < ${value}`;
      case 'lte':
        return sql`${left} <= ${value}`;
      case 'isNull':
        return value ? sql`${left} is null` : sql`${left} is not null`;
      default:
        throw new AppError(
          'invalid_input',
          `"${operator}" is not a comparison; known are eq, ne, in, gt, gte, lt, lte, isNull.`,
        );
    }
  });
}

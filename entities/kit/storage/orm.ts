import { isRaw, MikroORM, type Configuration } from '@mikro-orm/core';
import { AbstractSqlDriver, PostgreSqlConnection, PostgreSqlPlatform } from '@mikro-orm/postgresql';
import type { OrmSchemas } from './orm-schema.ts';
import { RoleSession } from './transaction.ts';

interface OrmResult {
  readonly affectedRows: number;
  readonly row: unknown;
  readonly rows: unknown[];
}

/**
 * MikroORM's connection, cut down to what the kit allows: every statement runs in a unit of work's transaction and carries bound
 * parameters. MikroORM itself would inline the values into the SQL text, which is how its published injection
 * advisories happened (CVE-2026-34220), and would open connections of its own.
 */
class BoundConnection extends PostgreSqlConnection {
  override async execute<T>(
    query: unknown,
    params: unknown[] = [],
    method: 'all' | 'get' | 'run' = 'all',
    ctx?: unknown,
  ): Promise<T> {
    if (!(ctx instanceof RoleSession)) throw new Error('the ORM was asked for data outside a unit of work');
    const source = isRaw(query) ? { sql: query.sql, params: [...query.params] } : { sql: String(query), params };
    const bound = bindParameters(source.sql, source.params);
    const result = await ctx.query(bound.text, bound.values);
    if (method === 'all') return result.rows as T;
    if (method === 'get') return result.rows[0] as T;
    const answer: OrmResult = { affectedRows: result.rowCount ?? 0, row: result.rows[0], rows: result.rows };
    return answer as T;
  }
}

class BoundDriver extends AbstractSqlDriver<BoundConnection> {
  constructor(config: Configuration) {
    super(config, new PostgreSqlPlatform(), BoundConnection, ['pg']);
  }

  /** Errors are translated once, where the statement runs (database-error.ts). */
  override convertException(error: Error): never {
    return error as never;
  }
}

/** The ORM as the units of work use it: metadata, identity map and change sets, without connections. */
export function createOrm(schemas: OrmSchemas): Promise<MikroORM> {
  return MikroORM.init({
    driver: BoundDriver,
    dbName: 'core',
    entities: [...schemas.all],
    // Several rows of one kind change one by one, so that each is checked against its version.
    useBatchUpdates: false,
  });
}

/** Turns MikroORM's `?` (value), `??` (identifier) and `\?` (a question mark) into PostgreSQL's `$n`. */
export function bindParameters(sql: string, params: readonly unknown[]): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  return { text: bindInto(values, sql, params), values };
}

function bindInto(values: unknown[], sql: string, params: readonly unknown[]): string {
  let next = 0;
  return sql.replaceAll(/\\\?|\?\??/g, (mark) => {
    if (mark === '\\?') return '?';
    const value = params[next++];
    if (mark === '??') return `"${String(value).replaceAll('"', '""')}"`;
    if (isRaw(value)) return bindInto(values, value.sql, [...value.params]);
    values.push(value);
    return `$${values.length}`;
  });
}

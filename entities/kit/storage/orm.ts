import { isRaw, MikroORM, type Configuration } from '@mikro-orm/core';
import { AbstractSqlDriver, PostgreSqlConnection, PostgreSqlPlatform } from '@mikro-orm/postgresql';
import { arrayLiteral } from './bound-text.ts';
import type { OrmSchemas } from './orm-schema.ts';
import type { RoleSession } from './transaction.ts';

interface OrmResult {
  readonly affectedRows: number;
  readonly row: unknown;
  readonly rows: unknown[];
}

/**
 * The session of one flush. An INSERT that returns nothing is sent and not waited for, so that what follows is sent together with it:
 * one round trip less for each change.
 */
export class FlushSession {
  readonly session: RoleSession;
  readonly #inserts: Promise<unknown>[] = [];

  constructor(session: RoleSession) {
    this.session = session;
  }

  insert(text: string, values: readonly unknown[]): void {
    const sent = this.session.query(text, values);
    // `inserted` reports the failure.
    sent.catch(() => {});
    this.#inserts.push(sent);
  }

  /** Waits for the inserts. @throws the error of the first one that failed */
  async inserted(): Promise<void> {
    for (const sent of this.#inserts) await sent;
  }
}

/**
 * A connection of MikroORM that runs every statement in the transaction of a unit of work, with bound parameters. MikroORM's own
 * connection inlines values into the SQL text, the cause of its published injection advisories (CVE-2026-34220), and opens
 * connections of its own.
 */
class BoundConnection extends PostgreSqlConnection {
  override async execute<T>(
    query: unknown,
    params: unknown[] = [],
    method: 'all' | 'get' | 'run' = 'all',
    ctx?: unknown,
  ): Promise<T> {
    if (!(ctx instanceof FlushSession))
      throw new Error('a statement of the ORM was run outside a unit of work; pass its session as transaction context');
    const source = isRaw(query) ? { sql: query.sql, params: [...query.params] } : { sql: String(query), params };
    const bound = bindParameters(source.sql, source.params);
    if (method === 'run' && isInsertAlone(bound.text)) {
      ctx.insert(bound.text, bound.values);
      return { affectedRows: 0, row: undefined, rows: [] } satisfies OrmResult as T;
    }
    const result = await ctx.session.query(bound.text, bound.values);
    if (method === 'all') return result.rows as T;
    if (method === 'get') return result.rows[0] as T;
    const answer: OrmResult = { affectedRows: result.rowCount ?? 0, row: result.rows[0], rows: result.rows };
    return answer as T;
  }
}

function isInsertAlone(text: string): boolean {
  return text.startsWith('insert ') && !text.includes(' returning ');
}

/** MikroORM's own array literals quote too little: `null` would become a missing item, and white space would be lost. */
class BoundPlatform extends PostgreSqlPlatform {
  override marshallArray(values: string[]): string {
    return arrayLiteral(values);
  }
}

class BoundDriver extends AbstractSqlDriver<BoundConnection> {
  constructor(config: Configuration) {
    super(config, new BoundPlatform(), BoundConnection, ['pg']);
  }

  /** Errors are translated once, where the statement runs (database-error.ts). */
  override convertException(error: Error): never {
    return error as never;
  }
}

/** The ORM for units of work: metadata, identity map and change sets, without connections. */
export function createOrm(schemas: OrmSchemas): Promise<MikroORM> {
  return MikroORM.init({
    driver: BoundDriver,
    dbName: 'core',
    entities: [...schemas.all],
    // One UPDATE per row, so that each is checked against its record version.
    useBatchUpdates: false,
  });
}

/** Turns MikroORM's `?` (value), `??` (identifier) and `\?` (a question mark) into PostgreSQL's `$n`. */
function bindParameters(sql: string, params: readonly unknown[]): { text: string; values: unknown[] } {
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

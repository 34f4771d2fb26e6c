import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
} from 'kysely';

/** A piece of SQL with its bound parameters. Values never become text. */
export type Sql = RawBuilder<unknown>;

/** Only compiles; statements run in a `Transaction`. */
const compiler = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

export function compileSql(fragment: Sql): Statement {
  const compiled = fragment.compile(compiler);
  return { text: compiled.sql, values: compiled.parameters };
}

import type { FieldDef, PoolClient, QueryResult, QueryResultRow } from 'pg';
import { boundText } from './bound-text.ts';
import type { Prepared, PreparedStatements, Wire } from './prepared-statements.ts';
import type { Statement } from './sql.ts';

/** Values of one row in the text format of PostgreSQL. */
export type TextRow = readonly (string | null)[];

/** What a statement returned. */
export type Answer<Row extends QueryResultRow> = Pick<QueryResult<Row>, 'rows' | 'rowCount' | 'command'>;

/** The message at the end of a statement, for example `INSERT 0 1`, `SELECT 3` or `COMMIT`. */
const completion = /^([A-Z ]+?)(?: \d+)??(?: (\d+))?$/;

/** A statement that was sent, and what has come of it. */
export class SentStatement {
  /** Resolves to this statement. */
  readonly ended: Promise<SentStatement>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly texts: TextRow[] = [];
  readonly #text: string;
  readonly #values: readonly (string | Buffer | null)[];
  readonly #needsColumns: boolean;
  #prepared: Prepared | undefined;
  #completion = '';

  /** @param needsColumns whether its rows are read with the types of its columns */
  constructor({ text, values }: Statement, needsColumns: boolean) {
    this.#text = text;
    this.#values = values.map(boundText);
    this.#needsColumns = needsColumns;
    const { promise, resolve, reject } = Promise.withResolvers<SentStatement>();
    this.ended = promise;
    this.resolve = () => resolve(this);
    this.reject = reject;
  }

  write(wire: Wire, statements: PreparedStatements): void {
    const { prepared, isNew } = statements.take(this.#text);
    this.#prepared = prepared;
    if (isNew) wire.parse({ name: prepared.name, text: this.#text });
    wire.bind({ statement: prepared.name, values: this.#values });
    if (this.#needsColumns && !prepared.columns) wire.describe({ type: 'P' });
    wire.execute({});
  }

  describe(fields: readonly FieldDef[], client: PoolClient): void {
    if (!this.#prepared) return;
    this.#prepared.columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: client.getTypeParser(dataTypeID, 'text'),
    }));
  }

  complete(message: string): void {
    this.#completion = message;
    // A statement that returns no rows has no description.
    if (this.#needsColumns && this.#prepared) this.#prepared.columns ??= [];
  }

  /** What it returned, once it has ended. @throws an error of the parser of a value */
  answer<Row extends QueryResultRow>(): Answer<Row> {
    const [, command = '', count] = completion.exec(this.#completion) ?? [];
    const rows = this.texts.map((texts) => this.#rowOf(texts) as Row);
    return { rows, rowCount: count === undefined ? null : Number(count), command };
  }

  #rowOf(texts: TextRow): QueryResultRow {
    const row: QueryResultRow = {};
    for (const [index, { name, parse }] of (this.#prepared?.columns ?? []).entries()) {
      const text = texts[index] ?? null;
      row[name] = text === null ? null : parse(text);
    }
    return row;
  }
}

import type { Statement } from './sql.ts';

/** Runs one statement. @returns its rows */
export type QueryDatabase = <Row extends object>(text: string, values: readonly unknown[]) => Promise<readonly Row[]>;

export interface ComparisonSettings {
  /** Rows that are compared at a time. */
  readonly pageSize: number;
  /** Nothing changes meanwhile. Otherwise rows that differ are compared again after a moment. */
  readonly isQuiet: boolean;
  readonly onProgress: (name: string, count: number) => void;
}

/** Participant in all changes of a database (`DatabaseOptions.hook`). */
export interface DatabaseHook {
  /** Begins its work in the background. Called once. @param query in a transaction of its own, with the rights of the system role */
  start(query: QueryDatabase): void;
  /**
   * Called before the COMMIT of a transaction that may have changed rows.
   * @param query in the transaction, whose last statements these are
   * @param deadline in milliseconds since the epoch
   * @returns what is to be done after the COMMIT, which must not throw; undefined for nothing
   * @throws AppError; the transaction is rolled back then
   */
  beforeCommit(query: QueryDatabase, deadline: number): Promise<(() => Promise<void>) | undefined>;
  /** Its parts of the readiness of this process, by name: each resolves when it is ready, and ends at the deadline. */
  readonly checks: Readonly<Record<string, (deadline: number) => Promise<void>>>;
  /** Called with statements that maintain the database, and change no rows that commits carry. */
  maintain(statement: Statement): Promise<void>;
  /** @returns one line per row that it should have otherwise */
  compare(settings: ComparisonSettings): Promise<string[]>;
  /** Ends its work. Called before the database is closed. */
  close(): Promise<void>;
}

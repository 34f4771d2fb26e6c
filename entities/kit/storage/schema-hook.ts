/** Runs one statement as the owner of the database. */
export interface SchemaOwner {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** Participant in changes of the schema of a database. @template Settings those of the configuration that it needs */
export interface SchemaHook<Settings> {
  /** Its tables, which belong to no kind. */
  readonly tables: readonly RegExp[];
  /** URLs of the other databases that get the same schema. */
  furtherUrls(settings: Settings): string[];
  /** Called with a database that may lack all tables, before migrations run there. */
  beforeMigrations(owner: SchemaOwner): Promise<void>;
  /**
   * Called when all databases have this program's schema. Several processes may call it at once; one works, the others wait.
   * @param tell called with steps that take time @throws AppError database_unavailable, with `retryAfterSeconds` where waiting may help
   */
  afterMigrations(settings: Settings, tell: (message: string) => void): Promise<void>;
  /** @returns why changes of a process with these settings would be refused; undefined when they are not. @throws AppError database_unavailable */
  whyNotReady(settings: Settings): Promise<string | undefined>;
}

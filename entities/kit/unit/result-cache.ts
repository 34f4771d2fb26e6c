import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import type { Registry } from '../model/registry.ts';
import type { ReadStatement } from '../read/answer-statements.ts';
import { decidingKinds } from '../read/deciding-kinds.ts';
import type { TextRow } from '../storage/send-together.ts';
import type { Statement } from '../storage/sql.ts';
import type { ChangedRecords } from '../write/change-counters.ts';

/** Maximum memory of the results of one process, in bytes, and of one result. */
const maxBytes = 32 * 1024 * 1024;
const maxResultBytes = 256 * 1024;

interface Result {
  readonly rows: readonly TextRow[];
  /** When the read began, as `performance.now()`. */
  readonly readAt: number;
  /** Counters of rights, as the database had them before the read. */
  readonly revisions: string;
  /** Changes of this process before the read. */
  readonly version: string;
}

/** Runs statements in one read-only transaction and one round trip. */
type Read = (statements: readonly Statement[]) => Promise<readonly (readonly TextRow[])[]>;

/**
 * Results of single-statement reads that may be answered again for a time (`db.cachettl`; docs/decisions/result-cache.md). Before each
 * use the database is asked whether the caller has the same state and nobody's rights have changed; that is one look-up, and the read is
 * saved. So a result can be outdated in what records say, by changes of other processes, and never in who may see it.
 */
export class ResultCache {
  readonly #ttlMs: () => number;
  readonly #results = new LRUCache<string, Result>({
    maxSize: maxBytes,
    maxEntrySize: maxResultBytes,
    sizeCalculation: ({ rows }) => rows.reduce((sum, row) => sum + 2 * (row[0]?.length ?? 0), 200),
  });
  readonly #registry: Registry;
  /** Tables of the kinds that decide what is seen of a kind. */
  readonly #tables = new Map<EntityModule, readonly string[]>();
  /** Changes of this process by table and organization. */
  readonly #versions = new LRUCache<string, number>({
    max: 100_000,
    dispose: (_version, _place, reason) => {
      if (reason === 'evict') this.#forgotten++;
    },
  });
  #forgotten = 0;
  #changes = 0;

  constructor(registry: Registry, ttlMs: () => number = () => 0) {
    this.#registry = registry;
    this.#ttlMs = ttlMs;
  }

  /** Memory of the results, in bytes as it is counted. */
  get bytes(): number {
    return this.#results.calculatedSize;
  }

  async read(statement: ReadStatement, caller: Caller, read: Read): Promise<readonly TextRow[]> {
    const ttlMs = this.#ttlMs();
    if (ttlMs === 0) return (await read([statement]))[0] ?? [];
    const key = keyOf(statement, caller);
    const revisions: Statement = {
      text: 'select revisions from authorization_state($1)',
      values: [caller.organizationId],
    };
    const version = this.#versionOf(statement.modules, caller.organizationId);
    const readAt = performance.now();
    const known = this.#results.get(key);
    if (known && readAt - known.readAt < ttlMs && known.version === version) {
      const [now] = await read([revisions]);
      if (now?.[0]?.[0] === known.revisions) return known.rows;
    }
    const [before, rows = []] = await read([revisions, statement]);
    this.#results.set(key, { rows, readAt, revisions: before?.[0]?.[0] ?? '', version });
    return rows;
  }

  /** Results that depend on these records are not used again. Called after the commit. */
  noteChanges(changed: ChangedRecords): void {
    for (const place of changed) this.#versions.set(place, ++this.#changes);
  }

  /** Of the kinds on which the answer depends, as this organization sees them. */
  #versionOf(modules: ReadonlySet<EntityModule>, organizationId: string | null): string {
    const tables = new Set([...modules].flatMap((module) => this.#tablesOf(module)));
    const places = [...tables].flatMap((table) => [table, `${table} ${organizationId ?? ''}`]);
    return [this.#forgotten, ...places.map((place) => this.#versions.get(place) ?? 0)].join(' ');
  }

  #tablesOf(module: EntityModule): readonly string[] {
    const known = this.#tables.get(module) ?? [...decidingKinds(this.#registry, module)].map(({ table }) => table);
    this.#tables.set(module, known);
    return known;
  }
}

/** Everything of the caller is in the key, so no result is ever answered to another one. */
function keyOf({ text, values }: Statement, caller: Caller): string {
  return createHash('sha256')
    .update(JSON.stringify([caller, values, text]))
    .digest('base64');
}

import type { MikroORM } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { recordedChanges, type RecordedChange } from '../model/recorded-changes.ts';
import type { EntityModule } from '../model/define.ts';
import type { Registry } from '../model/registry.ts';
import { FlushSession } from '../storage/orm.ts';
import type { OrmSchemas } from '../storage/orm-schema.ts';
import type { RoleSession } from '../storage/transaction.ts';
import type { Stamp } from '../write/change-work.ts';
import type { EventDraft } from '../model/event-draft.ts';

type Row = Record<string, unknown>;

/** Changes and events that a unit of work has not written yet. */
export class ChangeBuffer {
  readonly #orm: MikroORM;
  readonly #schemas: OrmSchemas;
  readonly #registry: Registry;
  #em: EntityManager | undefined;
  #events: EventDraft[] = [];
  /** Rows that were changed since the last flush; the version is incremented once per flush. */
  readonly #changed = new Set<object>();

  constructor(orm: MikroORM, schemas: OrmSchemas, registry: Registry) {
    this.#orm = orm;
    this.#schemas = schemas;
    this.#registry = registry;
  }

  /** Created on first use, because work that only reads needs no entity manager. */
  get em(): EntityManager {
    this.#em ??= this.#orm.em.fork({ clear: true }) as EntityManager;
    return this.#em;
  }

  /** Whether nothing was buffered in this unit of work, and no event waits. */
  get isUnused(): boolean {
    return this.#em === undefined && this.#events.length === 0;
  }

  insert(module: EntityModule, row: Row): void {
    this.em.create(this.#schemas.of(module).class, row as never, { persist: true });
  }

  /** @param row as it was read in this transaction @returns the row with its new values */
  update(module: EntityModule, row: Row, { values, stamp }: { values: Row; stamp: Stamp }): Row {
    const entity: Row = this.em.merge(this.#schemas.of(module).class, row as never, { refresh: true });
    const isFirst = !this.#changed.has(entity);
    Object.assign(entity, values, {
      updatedAt: stamp.at,
      updatedBy: stamp.actor,
      ...(isFirst ? { recordVersion: (entity['recordVersion'] as number) + 1 } : {}),
    });
    this.#changed.add(entity);
    return entity;
  }

  emit(event: EventDraft): void {
    this.#events.push(event);
  }

  /** The changes that the next `write` will write, and the waiting events; undefined when there are none. */
  take(): { readonly changes: readonly RecordedChange[]; readonly events: readonly EventDraft[] } | undefined {
    const changes = this.#em ? recordedChanges(this.#em, this.#registry) : [];
    const events = this.#events;
    if (changes.length === 0 && events.length === 0) return undefined;
    this.#events = [];
    this.#changed.clear();
    return { changes, events };
  }

  /**
   * Writes the changed rows. The entity manager has a connection only during this call.
   * @returns the inserts, which are sent and may fail yet
   */
  async write(session: RoleSession): Promise<FlushSession> {
    const flush = new FlushSession(session);
    this.em.setTransactionContext(flush);
    try {
      await this.em.flush();
    } catch (error) {
      // Statements after an insert that failed fail because of it.
      await flush.inserted();
      throw error;
    }
    this.em.resetTransactionContext();
    return flush;
  }

  clear(): void {
    this.#em?.clear();
  }
}

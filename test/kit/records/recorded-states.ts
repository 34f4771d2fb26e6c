import { registry } from '#entities/index.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { tenancyField, type EntityModule } from '#entities/kit/model/define.ts';
import { asOwner } from '../as-owner.ts';
import type { World } from '../world.ts';

type Stored = Pick<World, 'databaseUrl'>;
type Values = Readonly<Record<string, unknown>>;

/** Fields that history has: all but secrets. */
export function recordedFields({ fields, tenancy }: EntityModule): string[] {
  return [...tenancyField(tenancy), ...Object.keys(fields).filter((name) => fields[name]?.secret !== true)];
}

/** States of records, each from the moment at which the record got it. */
export class States {
  readonly #states = new Map<string, { readonly at: number; readonly state: string }[]>();

  add(record: string, at: Date, values: Values): void {
    const states = this.#states.get(record) ?? [];
    states.push({ at: at.getTime(), state: JSON.stringify(sorted(values)) });
    this.#states.set(record, states);
  }

  get records(): readonly string[] {
    return [...this.#states.keys()];
  }

  /** All records that were there at a moment, with what they held. */
  at(moment: Date): Map<string, string> {
    const found = new Map<string, string>();
    for (const [record, states] of this.#states) {
      const last = states.findLast(({ at }) => at <= moment.getTime());
      if (last) found.set(record, last.state);
    }
    return found;
  }
}

/** Notes what the tables of all kinds hold, each time what is new since the last time. */
export class TableRecorder {
  readonly #world: Stored;
  readonly states = new States();
  #since = '0';

  constructor(world: Stored) {
    this.#world = world;
  }

  /** Nothing may be changing meanwhile. @returns the number of rows that are new or changed */
  async note(at: Date): Promise<number> {
    const parts = registry.modules.map(
      (module) =>
        `select '${module.kind}' as kind, row.id, ${documentOf(module)} as document from ${module.table} as row
         where row.xmin::text::bigint >= $1::bigint`,
    );
    const [snapshot] = await asOwner<{ next: string }>(
      this.#world,
      'select pg_snapshot_xmax(pg_current_snapshot())::text as next',
    );
    const rows = await asOwner<{ kind: string; id: string; document: Values }>(this.#world, parts.join(' union all '), [
      this.#since,
    ]);
    this.#since = snapshot?.next ?? this.#since;
    for (const { kind, id, document } of rows) this.states.add(`${kind} ${id}`, at, document);
    return rows.length;
  }
}

/** SQL: the values of a row as history has them. */
function documentOf(module: EntityModule): string {
  const pairs = [...recordedFields(module), ...bookkeeping].map((name) => {
    const column = `row.${snakeCase(name)}`;
    return `'${name}', ${printed(column, module.fields[name]?.columnType ?? bookkeepingTypes[name])}`;
  });
  return `jsonb_build_object(${pairs.join(', ')})`;
}

const bookkeeping = [
  'recordVersion',
  'createdAt',
  'createdBy',
  'updatedAt',
  'updatedBy',
  'deletedAt',
  'deletedBy',
] as const;
const bookkeepingTypes: Readonly<Record<string, string>> = {
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
  deletedAt: 'timestamptz',
};

function printed(column: string, type: string | undefined): string {
  if (type === 'timestamptz') return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  return type?.startsWith('numeric') || type === 'date' ? `${column}::text` : column;
}

interface Entry {
  readonly kind: string;
  readonly id: string;
  readonly operation: 'created' | 'updated' | 'deleted';
  readonly version: number;
  readonly organizationId: string | null;
  readonly changed: readonly string[];
  readonly snapshot: Values;
  readonly actor: string;
  readonly at: Date;
}

/**
 * The states that follow from history: every entry changes the fields that it names. The values that an entry says the record
 * holds must be the same.
 * @throws Error when it is not
 */
export async function statesByHistory(world: Stored): Promise<States> {
  const entries = await asOwner<Entry>(
    world,
    `select entity_kind as kind, entity_id as id, operation, record_version as version, organization_id as "organizationId",
       changed_fields as changed, snapshot, actor, recorded_at as at from history order by entity_kind, entity_id, record_version`,
  );
  const modules = new Map(registry.modules.map((module) => [module.topic, module]));
  const states = new States();
  for (const [topic, ofKind] of Map.groupBy(entries, ({ kind }) => kind)) {
    const module = modules.get(topic);
    if (!module) throw new Error(`history has entries of ${topic}, which is no kind`);
    for (const [id, own] of Map.groupBy(ofKind, (entry) => entry.id)) {
      let held: Values = {};
      for (const entry of own) {
        held = stateAfter(module, held, entry);
        states.add(`${module.kind} ${id}`, entry.at, held);
      }
    }
  }
  return states;
}

function stateAfter(module: EntityModule, before: Values, entry: Entry): Values {
  const { id, operation, version, changed, snapshot, actor } = entry;
  const at = entry.at.toISOString();
  const fields = recordedFields(module);
  const isNew = operation === 'created';
  const own = module.tenancy === 'organization' ? { ...snapshot, organizationId: entry.organizationId } : snapshot;
  const told = Object.fromEntries(fields.map((name) => [name, own[name] ?? null]));
  const state = Object.fromEntries(
    fields.map((name) => [name, changed.includes(name) ? told[name] : isNew ? null : before[name]]),
  );
  for (const name of fields)
    if (JSON.stringify(sorted(told[name])) !== JSON.stringify(sorted(state[name])))
      throw new Error(
        `history of ${module.kind} ${id}: version ${version} (${operation}) has another ${name} than the version before, and does not name it as changed`,
      );
  const created = isNew ? { createdAt: at, createdBy: actor } : pick(before, ['createdAt', 'createdBy']);
  const deleted = operation === 'deleted' ? { deletedAt: at, deletedBy: actor } : { deletedAt: null, deletedBy: null };
  return { ...state, ...created, ...deleted, updatedAt: at, updatedBy: actor, recordVersion: version };
}

function pick(values: Values, names: readonly string[]): Values {
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}

/** With the names of objects in order, at every depth. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]): [string, unknown] => [name, sorted(inner)]);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

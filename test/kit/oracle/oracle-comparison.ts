import { registry } from '#entities/index.ts';
import { displayIdOf } from '#entities/kit/base/display-id.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import type { CoreRuntime } from '#runtime/core-runtime.ts';
import { asOwner } from '../as-owner.ts';
import { eventually } from '../eventually.ts';
import type { World } from '../world.ts';
import { displayIdPrefixes, oracleKinds, type OracleModel, type OracleRecord } from './oracle-model.ts';

type Stored = Pick<World, 'databaseUrl'>;

/** Compares rows, history, desired tuples and those of the authorization store with the model. @returns a line for each difference */
export async function differencesFromModel(
  world: Stored & Pick<World, 'runtime'>,
  model: OracleModel,
): Promise<string[]> {
  // The other process may be applying some of them.
  await eventually(() => areApplied(world));
  const tuples = asMap(model.tuples());
  const [rows, history, desired, stored] = await Promise.all([
    storedRows(world),
    storedHistory(world),
    desiredTuples(world),
    storedTuples(world.runtime),
  ]);
  return [
    ...differences('row', modelledRows(model), rows),
    ...differences('history', modelledHistory(model), history),
    ...differences('desired tuple', tuples, desired),
    ...differences('tuple of the authorization store', tuples, stored),
  ];
}

/** Gives the records that the server added the ids that they have in the database. @returns a line for each that is not there */
export async function nameRecords(world: Stored, model: OracleModel): Promise<string[]> {
  const { nameless } = model;
  if (nameless.length === 0) return [];
  // The server adds nothing but members of groups.
  const rows = await asOwner<{ id: string; groupId: string; userId: string }>(
    world,
    `select id, group_id as "groupId", user_id as "userId" from group_memberships where deleted_at is null and group_id = any($1)`,
    [nameless.map(({ values }) => values['groupId'])],
  );
  return nameless.flatMap((record) => {
    const { groupId, userId } = record.values;
    const found = rows.find((row) => row.groupId === groupId && row.userId === userId);
    if (!found) return [`${String(userId)} is not in the group ${String(groupId)}`];
    model.giveId(record, found.id);
    return [];
  });
}

function differences(what: string, wanted: ReadonlyMap<string, string>, found: ReadonlyMap<string, string>): string[] {
  return [
    ...[...wanted].flatMap(([key, value]) => {
      const other = found.get(key);
      if (other === value) return [];
      return [`${what} ${key}: ${value} in the model, ${other ?? 'nothing'} in the product`];
    }),
    ...[...found].flatMap(([key, value]) =>
      wanted.has(key) ? [] : [`${what} ${key}: nothing in the model, ${value} in the product`],
    ),
  ];
}

function asMap(tuples: readonly string[]): Map<string, string> {
  return new Map(tuples.map((tuple) => [tuple, 'present']));
}

function modelledRows(model: OracleModel): Map<string, string> {
  return new Map(model.records.map((record) => [`${record.kind} ${record.id}`, printedRow(rowOf(record))]));
}

function rowOf({ kind, id, organizationId, values, isLive, entries }: OracleRecord): Record<string, unknown> {
  const prefix = displayIdPrefixes[kind];
  return {
    ...values,
    ...(prefix === undefined ? {} : { displayId: displayIdOf(prefix, id) }),
    ...(kind === 'organization' ? {} : { organizationId }),
    isLive,
    recordVersion: entries.length,
    createdBy: entries[0]?.actor,
    updatedBy: entries.at(-1)?.actor,
    deletedBy: isLive ? null : entries.at(-1)?.actor,
  };
}

/** Of all kinds that the model knows, deleted ones included. */
async function storedRows(world: Stored): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const kind of oracleKinds) {
    const { table, fields } = registry.byKind(kind);
    const names = [
      ...Object.keys(fields),
      ...(kind === 'organization' ? [] : ['organizationId']),
      'recordVersion',
      'createdBy',
      'updatedBy',
      'deletedBy',
    ];
    const columns = names.map((name) => `${snakeCase(name)} as "${name}"`);
    const rows = await asOwner<{ id: string }>(
      world,
      `select id, deleted_at is null as "isLive", ${columns.join(', ')} from ${table}`,
    );
    for (const { id, ...row } of rows) found.set(`${kind} ${id}`, printedRow(row));
  }
  return found;
}

/** Fields in the order of their names; instants as RFC 3339. */
function printedRow(row: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

function modelledHistory(model: OracleModel): Map<string, string> {
  return new Map(
    model.records.flatMap(({ kind, id, entries }) =>
      entries.map(({ operation, changed, actor, requestId }, index): [string, string] => [
        `${registry.byKind(kind).topic} ${id} version ${index + 1}`,
        JSON.stringify([operation, changed, actor, requestId]),
      ]),
    ),
  );
}

/** Of the kinds that the model knows, and of all others what was not there from the beginning. */
async function storedHistory(world: Stored): Promise<Map<string, string>> {
  const rows = await asOwner<{ key: string; operation: string; changed: string[]; actor: string; requestId: string }>(
    world,
    `select entity_kind || ' ' || entity_id || ' version ' || record_version as key, operation, changed_fields as changed,
       actor, request_id as "requestId" from history where entity_kind = any($1) or request_id not like 'founding%'`,
    [oracleKinds.map((kind) => registry.byKind(kind).topic)],
  );
  return new Map(
    rows.map(({ key, operation, changed, actor, requestId }) => [
      key,
      JSON.stringify([operation, changed.toSorted(), actor, requestId]),
    ]),
  );
}

async function areApplied(world: Stored & Pick<World, 'runtime'>): Promise<boolean> {
  await world.runtime.tuples?.apply();
  const waiting = await asOwner(world, 'select 1 from desired_tuples where applied_version < version limit 1');
  return waiting.length === 0;
}

async function desiredTuples(world: Stored): Promise<Map<string, string>> {
  const rows = await asOwner<{ tuple: string }>(
    world,
    `select object || ' ' || relation || ' ' || subject as tuple from desired_tuples where present`,
  );
  return asMap(rows.map(({ tuple }) => tuple));
}

async function storedTuples({ store }: CoreRuntime): Promise<Map<string, string>> {
  if (!store) throw new Error('the test needs the authorization store');
  const tuples: string[] = [];
  for await (const { object, relation, subject } of store.tuples()) tuples.push(`${object} ${relation} ${subject}`);
  return asMap(tuples);
}

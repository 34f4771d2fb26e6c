import type { PageCounts } from '#entities/integrations/run-progress-rows.ts';
import { differences } from '#entities/kit/model/recorded-changes.ts';
import { maxRows } from '#entities/kit/write/change-counters.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { sightedBefore } from '#entities/integrations/run-sighting-rows.ts';
import type { IngestedKind } from '../../clients/integrations/definition.ts';
import { kindsToIngest } from './ingested-kinds.ts';
import type { MappedRecord } from './map-records.ts';

type Row = Readonly<Record<string, unknown>>;

interface Owner {
  readonly runId: string;
  readonly organizationId: string;
  readonly integrationId: string;
}

/** Numbers of written records, and the ids of the records that the other system has. */
export interface WrittenRecords extends Pick<PageCounts, 'created' | 'updated' | 'unchanged'> {
  /** Memberships whose account or group is not there. */
  readonly left: number;
  /** Records that the run has seen before. */
  readonly repeated: readonly MappedRecord[];
  readonly seen: ReadonlyMap<IngestedKind, readonly string[]>;
}

/**
 * Creates and changes the records of an integration that differ from what came in, each kind in chunks. One that does not differ is not
 * written, nor is one of a row that the run has seen before: else both would be written by every pass.
 * @param unit with the rights of the server
 * @param records of different keys
 */
export async function writeRecords(
  unit: UnitOfWork,
  owner: Owner,
  records: readonly MappedRecord[],
): Promise<WrittenRecords> {
  const counts = { created: 0, updated: 0, unchanged: 0, left: 0 };
  const repeated: MappedRecord[] = [];
  const seen = new Map<IngestedKind, string[]>();
  const ofKind = Map.groupBy(records, ({ kind }) => kind);
  for (const kind of Object.keys(kindsToIngest) as IngestedKind[])
    for (const chunk of chunksOf(ofKind.get(kind) ?? [])) {
      const writer = new KindWriter(unit, owner, kind);
      const written =
        kind === 'directoryMembership' ? await writer.writeMemberships(chunk) : await writer.writeNamed(chunk);
      counts.created += written.created;
      counts.updated += written.updated;
      counts.unchanged += written.ids.length - written.created - written.updated;
      counts.left += chunk.length - written.ids.length - written.repeated.length;
      repeated.push(...written.repeated);
      seen.set(kind, [...(seen.get(kind) ?? []), ...written.ids]);
    }
  return { ...counts, repeated, seen };
}

interface WrittenChunk {
  readonly ids: readonly string[];
  readonly created: number;
  readonly updated: number;
  readonly repeated: readonly MappedRecord[];
}

/** A record to write, and the row that has its key already. */
interface RecordToWrite {
  readonly record: MappedRecord;
  readonly row: Row | undefined;
  /** Values that can change. */
  readonly values: Row;
  /** Values of a new row besides. */
  readonly key: Row;
}

class KindWriter {
  readonly #unit: UnitOfWork;
  readonly #owner: Owner;
  readonly #kind: IngestedKind;

  constructor(unit: UnitOfWork, owner: Owner, kind: IngestedKind) {
    this.#unit = unit;
    this.#owner = owner;
    this.#kind = kind;
  }

  /** Accounts and groups, by their ids at the other system. */
  async writeNamed(records: readonly MappedRecord[]): Promise<WrittenChunk> {
    const rows = await this.#named(
      this.#kind,
      records.map(({ externalId }) => externalId),
    );
    return this.#write(
      records.map((record) => {
        const { externalId, ...values } = record.values;
        return { record, row: rows.get(record.externalId), values, key: { externalId } };
      }),
    );
  }

  /** Memberships, by account and group. Those of which one was left out cannot be there. */
  async writeMemberships(records: readonly MappedRecord[]): Promise<WrittenChunk> {
    const idsOf = (name: string) => [...new Set(records.map(({ values }) => values[name] as string))];
    const accounts = await this.#named('directoryAccount', idsOf('account'));
    const groups = await this.#named('directoryGroup', idsOf('group'));
    const known = records.flatMap((record) => {
      const { account, group, ...values } = record.values;
      const [accountId, groupId] = [accounts.get(account as string)?.['id'], groups.get(group as string)?.['id']];
      return accountId === undefined || groupId === undefined ? [] : [{ record, values, key: { accountId, groupId } }];
    });
    const rows = await this.#memberships(known.map(({ key }) => key));
    return this.#write(known.map((one) => ({ ...one, row: rows.get(pairOf(one.key)) })));
  }

  async #named(kind: IngestedKind, externalIds: readonly string[]): Promise<ReadonlyMap<string, Row>> {
    if (externalIds.length === 0) return new Map();
    const { module } = kindsToIngest[kind];
    const rows: readonly Row[] = await this.#unit.data.find(module, {
      where: { integrationId: { eq: this.#owner.integrationId }, externalId: { in: externalIds } },
      limit: externalIds.length,
    });
    return new Map(rows.map((row) => [row['externalId'] as string, row]));
  }

  /** All memberships of some accounts in some groups, by both ids. */
  async #memberships(
    keys: readonly { readonly accountId: unknown; readonly groupId: unknown }[],
  ): Promise<ReadonlyMap<string, Row>> {
    const { module } = kindsToIngest.directoryMembership;
    const [accountIds, groupIds] = [
      new Set(keys.map(({ accountId }) => accountId)),
      new Set(keys.map(({ groupId }) => groupId)),
    ];
    const found = new Map<string, Row>();
    if (keys.length === 0) return found;
    for (let after = ''; ;) {
      const rows: readonly Row[] = await this.#unit.data.find(module, {
        where: {
          accountId: { in: [...accountIds] },
          groupId: { in: [...groupIds] },
          ...(after === '' ? {} : { id: { gt: after } }),
        },
        orderBy: [{ field: 'id', direction: 'asc' }],
        limit: maxRows,
      });
      for (const row of rows) found.set(pairOf(row), row);
      if (rows.length < maxRows) return found;
      after = rows.at(-1)?.['id'] as string;
    }
  }

  async #write(all: readonly RecordToWrite[]): Promise<WrittenChunk> {
    const { module } = kindsToIngest[this.#kind];
    const { runId, ...owner } = this.#owner;
    const held = all.flatMap(({ row }) => (row ? [row['id'] as string] : []));
    const sighted = await sightedBefore(this.#unit, runId, this.#kind, held);
    const isRepeated = ({ row }: RecordToWrite) => row !== undefined && sighted.has(row['id'] as string);
    const records = all.filter((one) => !isRepeated(one));
    const isNew = ({ row }: RecordToWrite) => row === undefined;
    const changed = records.flatMap(({ row, values }) => {
      const given = row ? differences(row, values) : {};
      return row && Object.keys(given).length > 0 ? [{ id: row['id'] as string, values: given }] : [];
    });
    if (changed.length > 0) await this.#unit.data.updateEach(module, changed);
    const made = records.filter(isNew);
    const ids = await this.#unit.data.createRows(
      module,
      made.map(({ values, key }) => ({ ...values, ...key, ...owner })),
    );
    const existing = records.flatMap(({ row }) => (row ? [row['id'] as string] : []));
    return {
      ids: [...existing, ...ids],
      created: ids.length,
      updated: changed.length,
      repeated: all.filter(isRepeated).map(({ record }) => record),
    };
  }
}

function pairOf({ accountId, groupId }: Row): string {
  return JSON.stringify([accountId, groupId]);
}

function chunksOf<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / maxRows) }, (_none, index) =>
    items.slice(index * maxRows, (index + 1) * maxRows),
  );
}

import type { PageCounts } from '#entities/integrations/run-progress-rows.ts';
import { differences } from '#entities/kit/model/recorded-changes.ts';
import { maxRows } from '#entities/kit/write/change-counters.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { IngestedKind } from '../../clients/integrations/definition.ts';
import { kindsToIngest } from './ingested-kinds.ts';
import type { MappedRecord } from './map-records.ts';

type Row = Readonly<Record<string, unknown>>;

interface Owner {
  readonly organizationId: string;
  readonly integrationId: string;
}

/** Numbers of written records, and the ids of the records that the other system has. */
export interface WrittenRecords extends Pick<PageCounts, 'created' | 'updated' | 'unchanged'> {
  /** Memberships whose account or group is not there. */
  readonly left: number;
  readonly seen: ReadonlyMap<IngestedKind, readonly string[]>;
}

/**
 * Creates and changes the records of an integration that differ from what came in, each kind in chunks. One that does not differ is not
 * written.
 * @param data with the rights of the server
 * @param records of different keys
 */
export async function writeRecords(
  data: DataClient,
  owner: Owner,
  records: readonly MappedRecord[],
): Promise<WrittenRecords> {
  const counts = { created: 0, updated: 0, unchanged: 0, left: 0 };
  const seen = new Map<IngestedKind, string[]>();
  const ofKind = Map.groupBy(records, ({ kind }) => kind);
  for (const kind of Object.keys(kindsToIngest) as IngestedKind[])
    for (const chunk of chunksOf(ofKind.get(kind) ?? [])) {
      const writer = new KindWriter(data, owner, kind);
      const written =
        kind === 'directoryMembership' ? await writer.writeMemberships(chunk) : await writer.writeNamed(chunk);
      counts.created += written.created;
      counts.updated += written.updated;
      counts.unchanged += written.ids.length - written.created - written.updated;
      counts.left += chunk.length - written.ids.length;
      seen.set(kind, [...(seen.get(kind) ?? []), ...written.ids]);
    }
  return { ...counts, seen };
}

interface WrittenChunk {
  readonly ids: readonly string[];
  readonly created: number;
  readonly updated: number;
}

/** A record to write, and the row that has its key already. */
interface RecordToWrite {
  readonly row: Row | undefined;
  /** Values that can change. */
  readonly values: Row;
  /** Values of a new row besides. */
  readonly key: Row;
}

class KindWriter {
  readonly #data: DataClient;
  readonly #owner: Owner;
  readonly #kind: IngestedKind;

  constructor(data: DataClient, owner: Owner, kind: IngestedKind) {
    this.#data = data;
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
      records.map(({ externalId, values: { externalId: _key, ...values } }) => ({
        row: rows.get(externalId),
        values,
        key: { externalId },
      })),
    );
  }

  /** Memberships, by account and group. Those of which one was left out cannot be there. */
  async writeMemberships(records: readonly MappedRecord[]): Promise<WrittenChunk> {
    const idsOf = (name: string) => [...new Set(records.map(({ values }) => values[name] as string))];
    const accounts = await this.#named('directoryAccount', idsOf('account'));
    const groups = await this.#named('directoryGroup', idsOf('group'));
    const known = records.flatMap(({ values: { account, group, ...values } }) => {
      const [accountId, groupId] = [accounts.get(account as string)?.['id'], groups.get(group as string)?.['id']];
      return accountId === undefined || groupId === undefined ? [] : [{ values, key: { accountId, groupId } }];
    });
    const rows = await this.#memberships(known.map(({ key }) => key));
    return this.#write(
      known.map(({ values, key }) => ({
        row: rows.get(pairOf(key)),
        values,
        key,
      })),
    );
  }

  async #named(kind: IngestedKind, externalIds: readonly string[]): Promise<ReadonlyMap<string, Row>> {
    if (externalIds.length === 0) return new Map();
    const { module } = kindsToIngest[kind];
    const rows: readonly Row[] = await this.#data.find(module, {
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
      const rows: readonly Row[] = await this.#data.find(module, {
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

  async #write(records: readonly RecordToWrite[]): Promise<WrittenChunk> {
    const { module } = kindsToIngest[this.#kind];
    const isNew = ({ row }: RecordToWrite) => row === undefined;
    const changed = records.flatMap(({ row, values }) => {
      const given = row ? differences(row, values) : {};
      return row && Object.keys(given).length > 0 ? [{ id: row['id'] as string, values: given }] : [];
    });
    if (changed.length > 0) await this.#data.updateEach(module, changed);
    const made = records.filter(isNew);
    const ids = await this.#data.createRows(
      module,
      made.map(({ values, key }) => ({ ...values, ...key, ...this.#owner })),
    );
    const existing = records.flatMap(({ row }) => (row ? [row['id'] as string] : []));
    return {
      ids: [...existing, ...ids],
      created: ids.length,
      updated: changed.length,
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

import type { KeyPurpose } from '../base/secrets/keys.ts';
import { isSealedWithNewest, openSecret, sealSecret } from '../base/secrets/sealed-secret.ts';
import { snakeCase } from '../base/snake-case.ts';
import type { EntityModule } from '../model/define.ts';
import type { Work } from '../storage/work.ts';
import { sealingOf } from './sealed-values.ts';

type Row = Readonly<Record<string, unknown>>;

/** A field whose values are encrypted, and how. */
export interface SealedPlace {
  readonly module: EntityModule;
  readonly field: string;
  /** @param row has the id, and the organization where the kind has one */
  readonly sealing: (row: Row) => { readonly secrets: string; readonly purpose: KeyPurpose; readonly subject: string };
}

interface ResealedPage {
  /** Values that were looked at. */
  readonly checked: number;
  /** Values that are encrypted with the newest key now and were not before. */
  readonly resealed: number;
  /** Ids of records whose value no configured key opens. */
  readonly unreadable: readonly string[];
  /** Id after which the next page begins; null after the last one. */
  readonly next: string | null;
}

export function sealedPlaces(
  modules: readonly EntityModule[],
  keys: Parameters<typeof sealingOf>[0],
): readonly SealedPlace[] {
  return modules.flatMap((module) =>
    Object.keys(module.fields)
      .filter((field) => module.fields[field]?.isSealed)
      .map((field) => ({ module, field, sealing: (row: Row) => sealingOf(keys, module, row['id'] as string, field) })),
  );
}

/**
 * Encrypts values of a field with the newest key that an earlier one encrypted, so that the earlier key can go. The records do not change:
 * they get no version, no history entry and no event. A value that somebody replaces meanwhile is left alone.
 */
export async function resealPage(
  work: Work,
  { module, field, sealing }: SealedPlace,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<ResealedPage> {
  const column = snakeCase(field);
  const organization = module.tenancy === 'organization' ? `organization_id as "organizationId", ` : '';
  const rows = await work.rowsAsSystem<{ id: string; value: string }>(
    `select id, ${organization}${column} as value from ${module.table} where id > $1 and ${column} <> '' and deleted_at is null order by id limit $2`,
    [after, limit],
  );
  const changed: { id: string; former: string; value: string }[] = [];
  const unreadable: string[] = [];
  for (const row of rows) {
    const keys = sealing(row);
    if (isSealedWithNewest(row.value, keys)) continue;
    try {
      const { secret } = await openSecret(row.value, keys);
      changed.push({ id: row.id, former: row.value, value: await sealSecret(secret, keys) });
    } catch {
      // Which record it is, is what an operator needs; the reason is the same for all: its key is gone.
      unreadable.push(row.id);
    }
  }
  const rowCount = await work.runAsSystem(
    `update ${module.table} as held set ${column} = new.value
     from unnest($1::text[], $2::text[], $3::text[]) as new (id, former, value)
     where held.id = new.id and held.${column} = new.former`,
    [changed.map(({ id }) => id), changed.map(({ former }) => former), changed.map(({ value }) => value)],
  );
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return { checked: rows.length, resealed: rowCount, unreadable, next: last?.id ?? null };
}

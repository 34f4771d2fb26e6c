import { AppError } from '../base/errors.ts';
import type { EntityModule } from '../model/define.ts';
import type { LinkChange } from '../model/links.ts';
import { missingRecord } from '../model/missing-record.ts';
import type { Comparison } from '../read/filter.ts';
import { maxRows, checkRowCount } from '../write/change-counters.ts';
import { linkCreation, type Creation } from '../write/creations.ts';

type Row = Readonly<Record<string, unknown>>;

interface Reader {
  find(
    module: EntityModule,
    query: { readonly where: Readonly<Record<string, Comparison>>; readonly limit: number },
  ): Promise<readonly Row[]>;
}

/** The part of a data client that changes of links need. */
interface LinkClient extends Reader {
  createAll(creations: readonly Creation[]): Promise<unknown>;
  privileged(reason: string): Reader & { removeAll(module: EntityModule, ids: readonly string[]): Promise<unknown> };
}

/**
 * Links records with others and ends links. That the caller may edit these records has been decided; that they may view the others is
 * decided here.
 * @param ids of the records whose links change
 * @throws AppError not_found, limit_exceeded
 */
export async function changeLinks(
  data: LinkClient,
  ids: readonly string[],
  changes: readonly LinkChange[],
): Promise<void> {
  for (const change of changes) {
    if (change.ids.length === 0 || ids.length === 0) continue;
    checkRowCount(change.ids.length * ids.length, change.path);
    await (change.change === 'add' ? add(data, ids, change) : end(data, ids, change));
  }
}

async function add(data: LinkClient, ids: readonly string[], change: LinkChange): Promise<void> {
  const { own, other } = change.links;
  const held = await linked(data, ids, change);
  const known = new Set(held.map((link) => `${String(link[own.field])} ${String(link[other.field])}`));
  const creations = ids.flatMap((id) =>
    change.ids.flatMap((otherId, index): Creation[] => {
      if (known.has(`${id} ${otherId}`)) return [];
      const creation = linkCreation(change, otherId, index);
      return [{ ...creation, input: { ...creation.input, [own.field]: id } }];
    }),
  );
  if (creations.length > 0) await data.createAll(creations);
}

async function end(data: LinkClient, ids: readonly string[], change: LinkChange): Promise<void> {
  const { target, through } = change.links;
  const viewed = await data.find(target, { where: { id: { in: change.ids } }, limit: change.ids.length });
  const found = new Set(viewed.map(({ id }) => id));
  const fields = change.ids.flatMap((id, index) =>
    found.has(id) ? [] : [{ path: `${change.path}/${index}`, message: missingRecord(target, id).message }],
  );
  if (fields[0]) throw new AppError('not_found', fields[0].message, { details: { fields } });
  const links = await linked(data, ids, change);
  await data.privileged('change links').removeAll(
    through,
    links.map(({ id }) => id as string),
  );
}

/** The links there are between the records and the others. */
async function linked(
  data: LinkClient,
  ids: readonly string[],
  { links: { through, own, other }, ids: others }: LinkChange,
): Promise<readonly Row[]> {
  const where = { [own.field]: { in: ids }, [other.field]: { in: others } };
  return data.privileged('change links').find(through, { where, limit: maxRows });
}

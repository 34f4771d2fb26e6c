import { export as exportKind } from '#entities/index.ts';
import type { ExportWork } from './write-export.ts';

/** Exports that are changed in one transaction. */
const pageSize = 100;

/** Removes the documents of exports whose time is over. @returns how many */
export async function expireDocuments(work: ExportWork): Promise<number> {
  for (let count = 0; ;) {
    const expired = await work.transact(async (unit) => {
      const rows = await unit.data.find(exportKind, {
        where: { status: { eq: 'completed' }, expiresAt: { lte: unit.clock.now() } },
        limit: pageSize,
      });
      for (const { id } of rows) await unit.data.update(exportKind, id, { content: null, status: 'expired' });
      return rows.length;
    });
    count += expired;
    if (expired < pageSize) return count;
  }
}

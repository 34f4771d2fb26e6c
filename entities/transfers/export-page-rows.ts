import type { Work } from '../kit/storage/work.ts';

/** A part of a document that is being written. Pages are kept until the whole document is stored. */
interface ExportPage {
  /** The run that writes it: another run of the same export begins anew. */
  readonly runId: string;
  readonly exportId: string;
  /** Starts at 1. */
  readonly number: number;
  readonly bytes: Buffer;
  /** Records in it. */
  readonly rows: number;
  /** Cursor behind its last record; null after the last page. */
  readonly next: string | null;
}

/** How far a document is. */
export interface ExportPosition {
  readonly pages: number;
  readonly rows: number;
  /** Bytes of the pages. */
  readonly bytes: number;
  readonly next: string | null;
}

/** @returns undefined before the first page */
export async function exportPosition(work: Work, runId: string): Promise<ExportPosition | undefined> {
  const rows = await work.rowsAsSystem<{ pages: number; rows: string; bytes: string; next: string | null }>(
    `select last.number as pages, last.next, written.rows, written.bytes from export_pages last,
       (select sum(row_count) as rows, sum(octet_length(bytes)) as bytes from export_pages where run_id = $1) written
     where last.run_id = $1 order by last.number desc limit 1`,
    [runId],
  );
  const [row] = rows;
  return row && { pages: row.pages, rows: Number(row.rows), bytes: Number(row.bytes), next: row.next };
}

/** Keeps a page. Of two attempts that write the same one, the first wins. */
export async function keepExportPage(
  work: Work,
  { runId, exportId, number, bytes, rows, next }: ExportPage,
): Promise<void> {
  await work.runAsSystem(
    `insert into export_pages (run_id, export_id, number, bytes, row_count, next) values ($1, $2, $3, $4, $5, $6)
     on conflict (run_id, number) do nothing`,
    [runId, exportId, number, bytes, rows, next],
  );
}

/** @returns undefined behind the last page */
export async function readExportPage(work: Work, runId: string, number: number): Promise<Buffer | undefined> {
  const rows = await work.rowsAsSystem<{ bytes: Buffer }>(
    'select bytes from export_pages where run_id = $1 and number = $2',
    [runId, number],
  );
  return rows[0]?.bytes;
}

export async function removeExportPages(work: Work, runId: string): Promise<void> {
  await work.runAsSystem('delete from export_pages where run_id = $1', [runId]);
}

/** Removes the pages of runs that were cancelled, and of exports that are deleted. @returns whether there may be more */
export async function pruneLeftPages(work: Work): Promise<boolean> {
  await work.runAsSystem(
    `delete from export_pages p where not exists (select 1 from exports e
       where e.id = p.export_id and e.run_id = p.run_id and e.status = 'running' and e.deleted_at is null)`,
    [],
  );
  return false;
}

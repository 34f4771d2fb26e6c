import type { RoleSession } from '../storage/transaction.ts';
import type { Work } from '../storage/work.ts';

/** A delivery that should have a running workflow. */
export interface FailingDelivery {
  readonly eventId: string;
  readonly occurredAt: Date;
  readonly listener: string;
}

/** Work of which a row says that it continues; a workflow should do it. */
export interface ExpectedWork {
  /** Kind of the record that the key names: a listener, an endpoint, an e-mail, a channel on which notifications are sent, a task, an instance, a loop or a run of an integration. */
  readonly of: 'listener' | 'endpoint' | 'email' | 'channel' | 'reminder' | 'instance' | 'loop' | 'run';
  readonly key: string;
  /** Claim of the row, as the beginning of a line. */
  readonly claim: string;
}

/** Key of the last row that was read, as text. */
export type Cursor = readonly string[];

export interface ComparedPage {
  /** One line for each contradiction. */
  readonly lines: readonly string[];
  readonly failing?: readonly FailingDelivery[];
  readonly expected?: readonly ExpectedWork[];
  readonly read: number;
  /** Undefined after the last page. */
  readonly next: Cursor | undefined;
}

export interface PageRequest {
  readonly after: Cursor;
  readonly limit: number;
  /** Work younger than this is expected to be unfinished. */
  readonly graceMs: number;
}

/** Compares one table, page by page, with what others say about its rows. Each page is read in a transaction of its own. */
export interface Comparison {
  readonly name: string;
  readonly first: Cursor;
  page(work: Work, request: PageRequest): Promise<ComparedPage>;
}

/** The page of these rows; a page that is not full is the last one. */
export function pageOf<Row>(rows: readonly Row[], limit: number, keyOf: (row: Row) => Cursor) {
  const last = rows.length < limit ? undefined : rows.at(-1);
  return { read: rows.length, next: last && keyOf(last) };
}

/** Runs statements with the same values, whose rows are lines of a report. */
export async function linesOf(
  session: RoleSession,
  texts: string | readonly string[],
  values: readonly unknown[],
): Promise<string[]> {
  const lines: string[] = [];
  for (const text of [texts].flat())
    lines.push(...(await session.query<{ line: string }>(text, values)).rows.map(({ line }) => line));
  return lines;
}

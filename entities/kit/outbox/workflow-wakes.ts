import type { Work } from '../storage/work.ts';
import { linesOf, pageOf, type ComparedPage, type Comparison } from './comparison.ts';

/** A workflow that is to be woken once a transaction has committed: everything that Temporal needs, also in another process. */
export interface WorkflowWake {
  /** Names the wake. */
  readonly id: string;
  /** Temporal type. */
  readonly name: string;
  /** Without the prefix of the installation. */
  readonly workflowId: string;
  readonly queue: string | null;
  /** Name of the signal, or of the update. */
  readonly signal: string;
  /** Id of the update, so that it happens once; null for a signal. */
  readonly updateId: string | null;
  /** Input of the workflow, should it have to be started, without the settings of its queue. */
  readonly input: object;
  readonly search: object;
}

/** A wake that Temporal has refused. */
export interface RefusedWake {
  readonly id: string;
  /** Reason, without secrets. */
  readonly error: string;
}

/** Pause after the first refusal, and longest one, in milliseconds. Each is twice as long as the one before. */
const [firstPauseMs, longestPauseMs] = [10_000, 3_600_000];

/**
 * Keeps wakes with the transaction that they follow.
 * @param options.unlessKept not again while one of the same workflow and signal is kept: for what is repeated. A wake that follows a change
 * is always kept, because the one before it may have been sent, and read too early, without its row being forgotten yet
 */
export async function keepWakes(
  work: Work,
  wakes: readonly WorkflowWake[],
  { unlessKept = false }: { readonly unlessKept?: boolean } = {},
): Promise<void> {
  if (wakes.length === 0) return;
  await work.runAsSystem(
    `insert into workflow_wakes (id, at, name, workflow_id, queue, signal, update_id, input, search, attempts, next_attempt_at)
     select w.id, $2, w.name, w."workflowId", w.queue, w.signal, w."updateId", w.input, w.search, 0, $2
     from jsonb_to_recordset($1::jsonb) as w (id text, name text, "workflowId" text, queue text, signal text, "updateId" text, input jsonb, search jsonb)
     where not $3 or not exists (select 1 from workflow_wakes k where k.workflow_id = w."workflowId" and k.signal = w.signal)`,
    [JSON.stringify(wakes), work.clock.now(), unlessKept],
  );
}

/**
 * Wakes that were to be sent before this time: their process has died or could not reach Temporal, or Temporal has refused them. The longest
 * overdue come first, so those that are refused again and again hold up no others.
 */
export async function overdueWakes(work: Work, before: Date, limit: number): Promise<WorkflowWake[]> {
  return work.rowsAsSystem<WorkflowWake>(
    `select id, name, workflow_id as "workflowId", queue, signal, update_id as "updateId", input, search from workflow_wakes
     where next_attempt_at < $1 order by next_attempt_at limit $2`,
    [before, limit],
  );
}

/** Wakes that were refused are sent again, after a pause that grows. */
export async function postponeWakes(work: Work, refused: readonly RefusedWake[]): Promise<void> {
  await work.runAsSystem(
    `update workflow_wakes held set attempts = attempts + 1, error = r.error,
       next_attempt_at = $2::timestamptz + least($3 * 2 ^ least(attempts, 30), $4) * interval '1 millisecond'
     from jsonb_to_recordset($1::jsonb) as r (id text, error text) where held.id = r.id`,
    [JSON.stringify(refused), work.clock.now(), firstPauseMs, longestPauseMs],
  );
}

/** Lets the next sweep send a wake that waits after a refusal. */
export async function hastenWake(work: Work, id: string): Promise<void> {
  await work.runAsSystem('update workflow_wakes set next_attempt_at = at where id = $1', [id]);
}

/** Forgets wakes that were sent, or given up. */
export async function endWakes(work: Work, ids: readonly string[]): Promise<void> {
  await work.runAsSystem('delete from workflow_wakes where id = any($1)', [ids]);
}

/** Finds wakes that nobody has sent. */
export const wakeComparison: Comparison = {
  name: 'wakes of workflows',
  first: [''],
  page: async (work, { after, limit, graceMs }): Promise<ComparedPage> => {
    const session = await work.readAs('system');
    const { rows } = await session.query<{ id: string }>(
      'select id from workflow_wakes where id > $1 order by id limit $2',
      [...after, limit],
    );
    const lines = await linesOf(
      session,
      `select format('workflow %s was to be woken at %s, but was not', workflow_id, at) as line from workflow_wakes
       where id = any($1) and at < $2 order by id`,
      [rows.map(({ id }) => id), new Date(work.clock.now().getTime() - graceMs)],
    );
    return { lines, ...pageOf(rows, limit, ({ id }) => [id]) };
  },
};

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
  readonly signal: string;
  /** Input of the workflow, should it have to be started, without the settings of its queue. */
  readonly input: object;
  readonly search: object;
}

/** Keeps wakes with the transaction that they follow. */
export async function keepWakes(work: Work, wakes: readonly WorkflowWake[]): Promise<void> {
  if (wakes.length === 0) return;
  const session = await work.readAs('system');
  await session.query(
    `insert into workflow_wakes (id, at, name, workflow_id, queue, signal, input, search)
     select w.id, $2, w.name, w."workflowId", w.queue, w.signal, w.input, w.search
     from jsonb_to_recordset($1::jsonb) as w (id text, name text, "workflowId" text, queue text, signal text, input jsonb, search jsonb)`,
    [JSON.stringify(wakes), work.clock.now()],
  );
}

/** Wakes that were kept before this time: the process that was to send them has died, or could not reach Temporal. */
export async function overdueWakes(work: Work, before: Date, limit: number): Promise<WorkflowWake[]> {
  const session = await work.readAs('system');
  const { rows } = await session.query<WorkflowWake>(
    `select id, name, workflow_id as "workflowId", queue, signal, input, search from workflow_wakes
     where at < $1 order by at limit $2`,
    [before, limit],
  );
  return rows;
}

/** Forgets wakes that were sent. */
export async function endWakes(work: Work, ids: readonly string[]): Promise<void> {
  const session = await work.readAs('system');
  await session.query('delete from workflow_wakes where id = any($1)', [ids]);
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

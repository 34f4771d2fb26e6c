import { columnsOf } from '../kit/base/columns-of.ts';
import type { Work } from '../kit/storage/work.ts';
import { linesOf, pageOf, type ComparedPage, type Comparison } from '../kit/outbox/comparison.ts';

/** Of what people are reminded, in the order of time. */
export type ReminderStage = 'due_tomorrow' | 'due_today' | 'overdue';

/** Time for which it is known of what people were reminded, in milliseconds: longer than anybody is reminded of a due date. */
const retentionMs = 60 * 86_400_000;

/** Tasks that have been overdue for longer are no news, in milliseconds. */
const maxOverdueMs = 31 * 86_400_000;

/** How long before a due date its first reminder can come in some time zone, in milliseconds. */
const maxAheadMs = 2 * 86_400_000;

/** How long after a due date somebody is reminded at the latest, in milliseconds. */
const overdueAfterMs = 20 * 60_000;

const pruned = 10_000;

/** Statuses of tasks that need no reminder. */
const ended = `('completed', 'wont_do')`;

/** An open task of which its people may have to be reminded. */
interface DueTask {
  readonly id: string;
  readonly organizationId: string;
  readonly recordVersion: number;
  readonly dueAt: Date;
  /** Time zone of the assignee: their own, or that of the organization. */
  readonly timeZone: string;
  readonly reminded: readonly ReminderStage[];
}

/** Position in the order of due dates. */
type DueCursor = Pick<DueTask, 'dueAt' | 'id'>;

interface DueSelection {
  readonly now: Date;
  readonly limit: number;
  /** Undefined for the first page. */
  readonly after?: DueCursor;
  /** This task alone. */
  readonly only?: string;
}

/** Open tasks that are due soon or overdue, in the order of their due dates. */
export function dueTasks(work: Work, { now, limit, after, only }: DueSelection): Promise<DueTask[]> {
  const earliest = new Date(now.getTime() - maxOverdueMs);
  return work.rowsAsSystem<DueTask>(
    `select t.id, t.organization_id as "organizationId", t.record_version as "recordVersion", t.due_at as "dueAt",
       coalesce(u.timezone, o.timezone, 'UTC') as "timeZone",
       array(select stage from task_reminders r where r.task_id = t.id and r.due_at = t.due_at) as reminded
     from tasks t
       join organizations home on home.id = t.organization_id and home.deleted_at is null and not home.is_archived
       left join user_settings u on u.user_id = t.assignee_id and u.deleted_at is null
       left join organization_settings o on o.organization_id = t.organization_id and o.deleted_at is null
     where t.deleted_at is null and t.completed_at is null and t.status not in ${ended} and (t.assignee_id is not null or t.assigner_id is not null)
       and t.due_at > $1 and t.due_at <= $2 and (t.due_at, t.id) > ($3, $4) and ($6::text is null or t.id = $6)
       and not exists (select 1 from task_reminders r where r.task_id = t.id and r.due_at = t.due_at and r.stage = 'overdue')
     order by t.due_at, t.id limit $5`,
    [earliest, new Date(now.getTime() + maxAheadMs), after?.dueAt ?? earliest, after?.id ?? '', limit, only ?? null],
  );
}

/** A task and of what its people are reminded. */
interface Reminder {
  readonly task: DueTask;
  readonly stage: ReminderStage;
}

/** Records a reminder, of which nobody has been reminded yet. */
export async function addReminder(work: Work, { task, stage }: Reminder, now: Date): Promise<void> {
  await work.runAsSystem('insert into task_reminders (task_id, due_at, stage, told_at) values ($1, $2, $3, $4)', [
    task.id,
    task.dueAt,
    stage,
    now,
  ]);
}

/** Removes what is of no use any more. @returns whether there may be more */
export async function pruneReminders(work: Work, now: Date): Promise<boolean> {
  const rows = await work.rowsAsSystem<{ count: number }>(
    `with removed as (delete from task_reminders where ctid = any(array(
       select ctid from task_reminders where told_at < $1 limit ${pruned})) returning 1)
     select count(*)::int as count from removed`,
    [new Date(now.getTime() - retentionMs)],
  );
  return rows[0]?.count === pruned;
}

/** Compares reminders with their tasks and events, and overdue tasks with their reminders. */
export const reminderComparison: Comparison = {
  name: 'reminders of tasks',
  first: ['', '-infinity', ''],
  page: async (work, { after, limit }): Promise<ComparedPage> => {
    const session = await work.readAs('system');
    const { rows } = await session.query<{ taskId: string; dueAt: string; stage: string }>(
      `select task_id as "taskId", due_at::text as "dueAt", stage from task_reminders
       where (task_id, due_at, stage) > ($1, $2::timestamptz, $3) order by task_id, due_at, stage limit $4`,
      [...after, limit],
    );
    const page = pageOf(rows, limit, ({ taskId, dueAt, stage }) => [taskId, dueAt, stage]);
    const lines = await linesOf(
      session,
      `select format('task %s was to be reminded of as %s, but no event has reported it', r.task_id, r.stage) as line
       from task_reminders r join unnest($1::text[], $2::timestamptz[], $3::text[]) as g (task_id, due_at, stage) using (task_id, due_at, stage)
       where r.told_at > $4 and not exists (select 1 from events e where e.entity_id = r.task_id and e.topic = 'task.' || r.stage
         and (e.payload ->> 'dueAt')::timestamptz = r.due_at)`,
      [
        ...columnsOf(rows, 'taskId', 'dueAt', 'stage'),
        // Events are kept for longer than a day.
        new Date(work.clock.now().getTime() - 86_400_000),
      ],
    );
    // With the last page, whether anybody was forgotten.
    const now = work.clock.now();
    const forgotten = page.next ? [] : await dueTasks(work, { now, limit: 1 });
    const late = forgotten.filter(({ dueAt }) => dueAt.getTime() < now.getTime() - overdueAfterMs);
    return {
      lines,
      expected: late.map(({ id }) => ({
        of: 'reminder',
        key: id,
        claim: `somebody should have been reminded of task ${id}, which is overdue`,
      })),
      ...page,
    };
  },
};

import type { Work } from '../storage/work.ts';
import { shownAttempts, type WorkKind } from './failing-work.ts';

/** Work that fails or waits, whatever it is recorded in. */
export interface FailingWork {
  /** Where it is recorded, and its key there. */
  readonly id: string;
  readonly kind: WorkKind;
  /** `failing`: it is tried again; `held`: it waits for other work that fails; `failed`: nobody tries it again. */
  readonly status: 'failing' | 'held' | 'failed';
  readonly organizationId: string | null;
  readonly recordId: string | null;
  readonly requestId: string | null;
  readonly attempts: number | null;
  readonly error: string;
  readonly since: Date;
  readonly nextAttemptAt: Date | null;
  /** The run that does it; null for work that has none. */
  readonly workflowId: string | null;
  readonly runId: string | null;
  readonly workflowType: string | null;
  readonly activity: string | null;
}

export interface WorkSelection {
  readonly id?: string;
  readonly kind?: WorkKind;
  readonly organizationId?: string;
}

interface WorkPage {
  readonly limit: number;
  /** Position of the last item of the page before. */
  readonly after?: string;
}

/** Most rows of one source that are counted. */
const countLimit = 10_000;

const noRun = 'null::text as workflow_id, null::text as run_id, null::text as workflow_type, null::text as activity';

/** Each of them reads rows that a partial index holds, or a table of what was not done at once: few unless much fails. */
const sources = [
  `select 'work.' || id as id, kind, status, organization_id, record_id, request_id, attempts, error, since, next_attempt_at, workflow_id, run_id,
     workflow_type, activity from failing_work where ended_at is null`,
  `select 'delivery.' || d.event_id || '.' || d.listener, 'delivery', d.state, e.organization_id, d.entity_id, e.request_id, null::int,
     d.listener || ': ' || coalesce(d.error, 'waits for an earlier event of the record'), d.occurred_at, null::timestamptz, ${noRun}
   from event_deliveries d join events e on e.occurred_at = d.occurred_at and e.id = d.event_id where d.state in ('failing', 'held')`,
  `select 'message.' || q.endpoint_id, 'message', 'failing', w.organization_id, q.endpoint_id, null, q.failures,
     coalesce(a.problem, 'HTTP ' || a.status, 'unknown'), q.failing_since, q.blocked_until, ${noRun}
   from webhook_queues q join webhook_endpoints w on w.id = q.endpoint_id and w.deleted_at is null and w.status = 'enabled'
   left join lateral (select problem, status from webhook_attempts where endpoint_id = q.endpoint_id order by id desc limit 1) a on true
   where q.failures >= ${shownAttempts} and q.failing_since is not null`,
  `select 'copy.' || c.object_id, 'file', 'failed', o.organization_id, o.owner_id, null, c.attempts, coalesce(c.problem, 'unknown'), c.changed_at,
     o.copy_due_at, ${noRun}
   from object_copies c join stored_objects o on o.id = c.object_id where c.state = 'failed'`,
  `select 'sending.' || notification_id || '.' || channel, 'notification', 'failed', organization_id, notification_id, null, null,
     'this release does not have the channel ' || channel, told_at, null, ${noRun} from notification_sendings where state = 'failed'`,
  `select 'wake.' || id, 'other', 'failing', search -> 'OrganizationId' ->> 0, search ->> 'EntityId', search -> 'RequestId' ->> 0, attempts,
     coalesce(error, 'unknown'), at, next_attempt_at, workflow_id, null, name, null from workflow_wakes where attempts >= ${shownAttempts}`,
];

const listed = sources.join('\nunion all\n');

/** The newest first. */
export function listFailingWork(
  work: Work,
  { id, kind, organizationId }: WorkSelection,
  { limit, after }: WorkPage,
): Promise<FailingWork[]> {
  const { since = null, id: last = null } = after === undefined ? {} : (parseWorkPosition(after) ?? {});
  return work.rowsAsSystem<FailingWork>(
    `select id, kind, status, organization_id as "organizationId", record_id as "recordId", request_id as "requestId", attempts, error, since,
       next_attempt_at as "nextAttemptAt", workflow_id as "workflowId", run_id as "runId", workflow_type as "workflowType", activity
     from (${listed}) as listed
     where ($1::text is null or id = $1) and ($2::text is null or kind = $2) and ($3::text is null or organization_id = $3)
       and ($4::timestamptz is null or (date_trunc('milliseconds', since), id) < ($4, $5))
     order by date_trunc('milliseconds', since) desc, id desc limit $6`,
    [id ?? null, kind ?? null, organizationId ?? null, since, last, limit],
  );
}

/** How much there is of each kind; of each source up to 10,000. */
export function countFailingWork(work: Work): Promise<{ readonly kind: WorkKind; readonly count: number }[]> {
  // Only the first of the sources names its columns.
  const counted = sources.map((source) => `select kind from (${source} limit ${countLimit}) as part (id, kind)`);
  return work.rowsAsSystem<{ kind: WorkKind; count: number }>(
    `select kind, count(*)::int as count from (${counted.join(' union all ')}) as listed group by kind order by kind`,
  );
}

/** The position of an item, for the page after it. */
export function workPosition({ since, id }: Pick<FailingWork, 'since' | 'id'>): string {
  return `${since.toISOString()}/${id}`;
}

/** Undefined for a text that is no position. */
export function parseWorkPosition(text: string): { readonly since: Date; readonly id: string } | undefined {
  const [, at = '', id = ''] = /^(\d{4}-\d\d-\d\dT[\d:.]+Z)\/(.+)$/.exec(text) ?? [];
  const since = new Date(at);
  return Number.isNaN(since.getTime()) ? undefined : { since, id };
}

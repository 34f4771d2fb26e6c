import { workflowMessageTopic } from './workflow-message-topic.ts';
import { linesOf, pageOf, type ComparedPage, type Comparison } from '../kit/outbox/comparison.ts';

interface MessageRow {
  readonly endpointId: string;
  readonly eventId: string;
  /** Nobody sends, although nothing says to wait. */
  readonly isOverdue: boolean;
}

/** Clocks of processes may differ by this much. */
const clockTolerance = `interval '1 second'`;

/** An attempt that was claimed before the URL of its endpoint changed may begin until then. */
const leaseTolerance = `interval '30 seconds'`;

/** Compares messages to endpoints with the events that they are about, with their attempts, and with those of the same record. */
export const endpointComparison: Comparison = {
  name: 'messages to endpoints',
  first: ['', ''],
  page: async (work, { after, limit, graceMs }): Promise<ComparedPage> => {
    const session = await work.readAs('system');
    const { rows } = await session.query<MessageRow>(
      `select m.endpoint_id as "endpointId", m.event_id as "eventId",
         m.state = 'due' and m.due_at <= $4 and coalesce(q.next_at <= $4, true) as "isOverdue"
       from webhook_messages m left join webhook_queues q using (endpoint_id)
       where (m.endpoint_id, m.event_id) > ($1, $2) order by m.endpoint_id, m.event_id limit $3`,
      [...after, limit, new Date(work.clock.now().getTime() - graceMs)],
    );
    const page = pageOf(rows, limit, ({ endpointId, eventId }) => [endpointId, eventId]);
    if (rows.length === 0) return { lines: [], ...page };
    const values = [rows.map(({ endpointId }) => endpointId), rows.map(({ eventId }) => eventId)];
    const messages = `webhook_messages m join unnest($1::text[], $2::text[]) as g (endpoint_id, event_id) using (endpoint_id, event_id)`;
    const lines = await linesOf(
      session,
      [
        // Events are dropped by days, and messages are kept longer. Messages of tests and of workflows belong to no event.
        `select format('message to endpoint %s is about event %s (%s), which does not exist', m.endpoint_id, m.event_id, m.topic) as line
         from ${messages}
         where m.topic not in ('webhook_endpoint.tested', '${workflowMessageTopic}')
           and not exists (select 1 from events e where e.occurred_at = m.occurred_at and e.id = m.event_id)
           and exists (select 1 from events e where e.occurred_at >= date_trunc('day', m.occurred_at, 'UTC')
             and e.occurred_at < date_trunc('day', m.occurred_at, 'UTC') + interval '1 day')`,
        `select format('event %s was sent to endpoint %s again after it had arrived, and nobody asked for it', m.event_id, m.endpoint_id) as line
         from ${messages}
         where m.replayed_at is null and exists (select 1 from webhook_attempts a join webhook_attempts b
             on b.endpoint_id = a.endpoint_id and b.event_id = a.event_id and b.id > a.id
           where a.endpoint_id = m.endpoint_id and a.event_id = m.event_id
             and a.problem is null and a.status between 200 and 299
             -- An attempt that took longer than its lease may overlap the next one.
             and b.attempted_at > a.attempted_at + a.duration_ms * interval '1 millisecond' + ${clockTolerance})`,
        `select format('event %s was sent to endpoint %s at a URL that the endpoint has got after it', m.event_id, m.endpoint_id) as line
         from ${messages}
         join webhook_endpoints w on w.id = m.endpoint_id and m.occurred_at < w.url_changed_at
         where exists (select 1 from webhook_attempts a where a.endpoint_id = m.endpoint_id and a.event_id = m.event_id
           and a.attempted_at > w.url_changed_at + ${leaseTolerance})`,
        // Messages that were sent on request, or before the endpoint was last changed, may be in any order.
        `select format('event %s reached endpoint %s before event %s of the same record', later.event_id, later.endpoint_id, m.event_id) as line
         from ${messages}
         join webhook_endpoints w on w.id = m.endpoint_id and w.ordering = 'record' and w.updated_at <= m.occurred_at
         cross join lateral (select min(a.attempted_at) as at from webhook_attempts a
           where a.endpoint_id = m.endpoint_id and a.event_id = m.event_id) as own
         cross join lateral (select n.endpoint_id, n.event_id from webhook_messages n
           join webhook_attempts b on b.endpoint_id = n.endpoint_id and b.event_id = n.event_id
           where n.endpoint_id = m.endpoint_id and n.occurred_at between m.occurred_at and own.at
             and n.entity_id = m.entity_id and n.replayed_at is null
             and (n.record_version, n.event_id) > (m.record_version, m.event_id)
             and b.attempted_at < own.at - ${clockTolerance} limit 1) as later
         where m.replayed_at is null`,
      ],
      values,
    );
    const overdue = new Set(rows.filter(({ isOverdue }) => isOverdue).map(({ endpointId }) => endpointId));
    return {
      lines,
      expected: [...overdue].map((key) => ({
        of: 'endpoint',
        key,
        claim: `endpoint ${key} has messages that are due`,
      })),
      ...page,
    };
  },
};

import { linesOf, pageOf, type ComparedPage, type Comparison } from '../kit/outbox/comparison.ts';

/**
 * How long after its time a notification is planned at the latest, in milliseconds: others that the same request still causes may hold it back
 * for a quarter of an hour.
 */
const overdueAfterMs = 20 * 60_000;

/** Time after which the ended sendings of a digest may have been removed, in milliseconds. */
const keptMs = 50 * 86_400_000;

interface SendingRow {
  readonly notificationId: string;
  readonly channel: string;
  readonly isOverdue: boolean;
}

/** Compares sendings with the digests that have them, and with the e-mails that contain them. */
export const sendingComparison: Comparison = {
  name: 'sendings of notifications',
  first: ['', ''],
  page: async (work, { after, limit }): Promise<ComparedPage> => {
    const session = await work.readAs('system');
    const { rows } = await session.query<SendingRow>(
      `select notification_id as "notificationId", channel, state = 'due' and due_at <= $4 as "isOverdue" from notification_sendings
       where (notification_id, channel) > ($1, $2) order by notification_id, channel limit $3`,
      [...after, limit, new Date(work.clock.now().getTime() - overdueAfterMs)],
    );
    const page = pageOf(rows, limit, ({ notificationId, channel }) => [notificationId, channel]);
    if (rows.length === 0) return { lines: [], ...page };
    const values = [rows.map(({ notificationId }) => notificationId), rows.map(({ channel }) => channel)];
    const sendings = `notification_sendings s join unnest($1::text[], $2::text[]) as g (notification_id, channel) using (notification_id, channel)`;
    const lines = await linesOf(
      session,
      [
        `select format('notification %s is in digest %s on %s, which does not exist or is not of the same person', s.notification_id,
           s.digest_id, s.channel) as line
         from ${sendings} left join notification_digests d on d.id = s.digest_id and d.organization_id = s.organization_id
           and d.user_id = s.user_id and d.channel = s.channel
         where s.state = 'collected' and d.id is null`,
        `select format('notification %s is in digest %s, and e-mail %s has reported it by itself', s.notification_id, s.digest_id, e.id) as line
         from ${sendings} join emails e on e.organization_id = s.organization_id
           and e.key in (select format('notification/%s/%s', s.notification_id, round) from generate_series(1, s.round) as round)
         where s.state = 'collected' and s.channel = 'email' and e.status in ('sent', 'delivered', 'bounced', 'complained')`,
        // Of a deleted organization nothing is sent.
        `select format('notification %s was sent by e-mail, but there is no e-mail', s.notification_id) as line
         from ${sendings} join organizations o on o.id = s.organization_id and o.deleted_at is null
         where s.state = 'sent' and s.channel = 'email' and not exists (select 1 from emails e
           where e.organization_id = s.organization_id and e.key = format('notification/%s/%s', s.notification_id, s.round))`,
      ],
      values,
    );
    const overdue = new Map(
      rows.filter(({ isOverdue }) => isOverdue).map(({ channel, notificationId }) => [channel, notificationId]),
    );
    return {
      lines,
      expected: [...overdue].map(([key, id]) => ({
        of: 'channel',
        key,
        claim: `notification ${id} should have been sent on ${key} long ago`,
      })),
      ...page,
    };
  },
};

/** Compares digests with what they have, and with their e-mails. */
export const digestComparison: Comparison = {
  name: 'digests of notifications',
  first: [''],
  page: async (work, { after, limit }): Promise<ComparedPage> => {
    const session = await work.readAs('system');
    const { rows } = await session.query<{ id: string }>(
      `select id from notification_digests where id > $1 order by id limit $2`,
      [...after, limit],
    );
    const page = pageOf(rows, limit, ({ id }) => [id]);
    if (rows.length === 0) return { lines: [], ...page };
    const ids = rows.map(({ id }) => id);
    const lines = [
      ...(await linesOf(
        session,
        `select format('digest %s was sent by e-mail, but there is no e-mail', d.id) as line
         from notification_digests d join organizations o on o.id = d.organization_id and o.deleted_at is null
         where d.id = any($1) and d.state = 'sent' and d.channel = 'email' and not exists (select 1 from emails e
           where e.organization_id = d.organization_id and e.key = format('digest/%s/%s', d.id, d.round))`,
        [ids],
      )),
      ...(await linesOf(
        session,
        `select format('digest %s is %s, but has no notification', d.id, d.state) as line from notification_digests d
         where d.id = any($1) and d.state not in ('empty', 'failed') and d.updated_at > $2
           and not exists (select 1 from notification_sendings s where s.digest_id = d.id)`,
        [ids, new Date(work.clock.now().getTime() - keptMs)],
      )),
    ];
    return { lines, ...page };
  },
};

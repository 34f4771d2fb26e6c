import { openApiInstallation, type ApiInstallation } from './api-installation.ts';
import { probe } from './http-probe.ts';
import { percentile, type Bench, type BenchRow } from './row.ts';

/** How many notifications the person has in the end; `BENCH_LARGE_INBOX` shortens a run while something is being tried. */
const allRows = Number(process.env['BENCH_LARGE_INBOX'] ?? 1_000_000);
const fewRows = 10_000;
const rowsAtOnce = 50_000;
/** Every so many notifications one is unread. */
const unreadEvery = 20;
/** Requests of each measurement; the first tenth is not measured. */
const requests = 800;

type Person = ApiInstallation['people'][number];

/** Lists of the notifications of one person who has a million of them, against the same with ten thousand. */
export const inboxAt1m: Bench = {
  name: 'inbox-at-1m',
  // Filling the table takes minutes.
  isLong: true,
  run: async (say) => {
    const installation = await openApiInstallation();
    try {
      const person = installation.people[1] as Person;
      await fill(installation, person, 0, fewRows);
      await timesOf(installation, person);
      const [few, fewAgain] = [await timesOf(installation, person), await timesOf(installation, person)];
      say(
        `${fewRows} notifications: p50 ${percentile(few, 0.5).toFixed(2)} ms, p99 ${percentile(few, 0.99).toFixed(2)} ms`,
      );
      for (let done = fewRows; done < allRows; done += rowsAtOnce)
        await fill(installation, person, done, Math.min(allRows, done + rowsAtOnce));
      await timesOf(installation, person);
      const many = await timesOf(installation, person);
      say(
        `${allRows} notifications: p50 ${percentile(many, 0.5).toFixed(2)} ms, p99 ${percentile(many, 0.99).toFixed(2)} ms`,
      );
      return (['p50', 'p99'] as const).flatMap((label): BenchRow[] => {
        const share = label === 'p50' ? 0.5 : 0.99;
        const [ours, reference, again] = [many, few, fewAgain].map((times) => percentile(times, share)) as [
          number,
          number,
          number,
        ];
        const common = { unit: `ms (${label})`, spread: 0 };
        return [
          {
            ...common,
            name: `inbox-at-1m-${label}`,
            ours,
            reference,
            ratio: reference / ours,
            note: `lists of a person with ${allRows} notifications; reference: with ${fewRows}`,
          },
          {
            ...common,
            name: `inbox-at-1m-${label}-aa`,
            ours: again,
            reference,
            ratio: reference / again,
            note: `with ${fewRows} notifications, against itself`,
          },
        ];
      });
    } finally {
      await installation.close();
    }
  },
};

/** Notifications of the last twenty days about tasks that the person sees, as listeners leave them. */
async function fill({ client }: ApiInstallation, person: Person, from: number, to: number): Promise<void> {
  const { organizationId, userId, taskIds } = person;
  await client.query(
    `insert into notifications (id, created_at, updated_at, created_by, updated_by, record_version, organization_id, user_id, shown_to, type, topic,
       title, body, link, target_kind, target_id, is_read, read_at, event_id)
     select id, at, at, 'system:benchmark', 'system:benchmark', 1, $3, $4, $4, 'user', case n % 3 when 0 then 'task.mentioned' else 'task.assigned' end,
       'A task was assigned to you', 'Task ' || n, '/tasks/' || ($5::text[])[1 + n % cardinality($5::text[])], 'task',
       ($5::text[])[1 + n % cardinality($5::text[])],
       n % $6 > 0, case when n % $6 > 0 then at end, id
     from (select n, '01K' || lpad(upper(to_hex(n)), 23, '0') as id, now() - interval '20 days' * (1 - n / $7::float8) as at
       from generate_series($1::int, $2::int - 1) as n) as made`,
    [from, to, organizationId, userId, taskIds, unreadEvery, allRows],
  );
  // As autovacuum leaves a table some minutes later.
  if (to === fewRows || to === allRows) {
    await client.query('vacuum analyze notifications');
    await client.query('checkpoint');
  }
}

/** Times of single requests, one after the other, in milliseconds: the newest ones, the page after them, unread ones, those of a topic. */
async function timesOf({ url }: ApiInstallation, { token }: Person): Promise<number[]> {
  const list = async (query: string) => {
    const { status, body, durationMs } = await probe({
      method: 'GET',
      url: `${url}/v1/notifications?first=25&order_by=-created_at${query}`,
      token,
    });
    const answer = JSON.parse(body) as {
      readonly data: readonly unknown[];
      readonly page_info: { readonly end_cursor: string };
    };
    if (status !== 200 || answer.data.length !== 25) throw new Error(`inbox-at-1m: ${status} ${body}`);
    return { durationMs, cursor: answer.page_info.end_cursor };
  };
  const { cursor } = await list('');
  const sorts = ['', `&after=${encodeURIComponent(cursor)}`, '&is_read=false', '&topic=task.mentioned'];
  const times: number[] = [];
  for (let n = 0; n < requests; n++) {
    const { durationMs } = await list(sorts[n % sorts.length] as string);
    if (n >= requests / 10) times.push(durationMs);
  }
  return times;
}

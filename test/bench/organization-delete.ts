import { setTimeout as pause } from 'node:timers/promises';
import { ProductProcess } from '../kit/processes/spawned-process.ts';
import { openApiInstallation, type ApiInstallation } from './api-installation.ts';
import { memoryOf } from './files/process-usage.ts';
import { percentile, type Bench } from './row.ts';

const records = 100_000;
/** How long others are watched before the deletion, in milliseconds. */
const quietMs = 8_000;
const clients = 8;

/** The deletion of an organization with many records, while others work. */
export const organizationDelete: Bench = {
  name: 'organization-delete',
  run: async (say) => {
    const installation = await openApiInstallation();
    const { url, pid, client, people, environment } = installation;
    const worker = new ProductProcess({ program: 'worker/worker-main.ts', environment, isSilent: true });
    try {
      await worker.ready;
      const [doomed, ...others] = people as [ApiInstallation['people'][number], ...ApiInstallation['people']];
      await fill(installation, doomed);
      const watch = watchOthers(url, others.slice(0, clients));
      await pause(quietMs);
      const before = watch.take();
      const memoryBefore = memoryOf(pid).now;
      const startedAt = performance.now();
      const answer = await fetch(`${url}/v1/organizations/${doomed.organizationId}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${doomed.token}` },
      });
      const answeredMs = performance.now() - startedAt;
      if (answer.status !== 204) throw new Error(`${answer.status} ${await answer.text()}`);
      for (;;) {
        const { rows } = await client.query<{ status: string }>('select status from organization_removals');
        if (rows[0]?.status === 'completed') break;
        await pause(100);
      }
      const seconds = (performance.now() - startedAt) / 1_000;
      const during = watch.take();
      const memory = memoryOf(pid).now - memoryBefore;
      await watch.stop();
      say(`answered after ${Math.round(answeredMs)} ms, removed after ${seconds.toFixed(1)} s`);
      const [ours, reference] = [percentile(during, 0.99), percentile(before, 0.99)];
      return [
        {
          name: 'organization-delete',
          unit: 'ms p99',
          ours,
          reference,
          ratio: reference / ours,
          spread: 0,
          note: `lists of ${clients} others while ${records} records are removed; reference: before it. Half of them took ${percentile(during, 0.5).toFixed(1)} ms, before ${percentile(before, 0.5).toFixed(1)}`,
        },
        {
          name: 'organization-delete-rate',
          unit: 'records/s',
          ours: records / seconds,
          reference: null,
          ratio: null,
          spread: 0,
          note: `the deletion was answered after ${Math.round(answeredMs)} ms; memory of the API changed by ${Math.round(memory)} MB`,
        },
      ];
    } finally {
      await worker.stop();
      await installation.close();
    }
  },
};

/** As migrations would: the history of their deletion matters alone. */
async function fill(
  { client }: ApiInstallation,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
): Promise<void> {
  await client.query(
    `insert into tasks (id, created_at, updated_at, created_by, updated_by, record_version, organization_id, display_id,
       title, status, priority, tags, external_urls, assigner_id)
     select '0' || lpad(n::text, 25, '0'), now(), now(), 'system:benchmark', 'system:benchmark', 1, $1, 'TSK-' || n, 'Task ' || n,
       'open', n % 100, '{}', '{}', $2 from generate_series(1, $3) as n`,
    [organizationId, userId, records],
  );
  await client.query('analyze tasks');
}

/** Lists of others, one after the other for each, with how long each took. */
function watchOthers(url: string, people: ApiInstallation['people']) {
  let times: number[] = [];
  const watching = { isOver: false };
  const all = people.map(async ({ token }) => {
    while (!watching.isOver) {
      const startedAt = performance.now();
      const answer = await fetch(`${url}/v1/tasks?first=25`, { headers: { authorization: `Bearer ${token}` } });
      if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
      await answer.arrayBuffer();
      times.push(performance.now() - startedAt);
      await pause(20);
    }
  });
  return {
    take: () => {
      const taken = times;
      times = [];
      return taken;
    },
    stop: async () => {
      watching.isOver = true;
      await Promise.all(all);
    },
  };
}

import { setTimeout as pause } from 'node:timers/promises';
import { membership, notification, notificationPreference, organization, task, user } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { addSendings } from '#entities/notifications/notification-sending-rows.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { insertRows } from '#entities/kit/write/insert-rows.ts';
import { sendDueNotificationsContract } from '#workflows/notifications/send-due-notifications.contract.ts';
import { BenchProcess } from '../bench-process.ts';
import { openBenchInstallation, type BenchInstallation } from '../installation.ts';
import type { Bench } from '../row.ts';
import { benchContext } from './bench-endpoints.ts';

/** People who each get a digest; `BENCH_MESSAGES` shortens a run while something is being tried. */
const people = Number(process.env['BENCH_MESSAGES'] ?? 10_000);
const organizations = 20;
/** Notifications of each person. */
const notificationsOfEach = 3;
/** As often as the provider is asked how far things are. */
const pollMs = 100;

/** After this time, what is missing is not coming. */
const maxMs = 600_000;

interface Accepted {
  readonly mails: number;
  readonly people: number;
  readonly requests: number;
}

/** From the run of the schedule to the last digest of 10,000 people that the provider has accepted. */
export const digest10k: Bench = {
  name: 'digest-10k',
  run: async (say) => {
    const provider = new BenchProcess('test/bench/messages/mail-sink.ts');
    const { url, apiKey } = await provider.next<{ url: string; apiKey: string }>();
    const installation = await openBenchInstallation({
      // Otherwise development writes mails into a folder.
      CORE_INTEGRATIONS_EMAIL_TESTDIR: '',
      CORE_INTEGRATIONS_EMAIL_PROVIDER: 'providera',
      CORE_INTEGRATIONS_EMAIL_PROVIDERA_APIKEY: apiKey,
      CORE_ORMCONFIG_NOTIFICATIONS_CONSOLEURL: 'https://console.example.com',
    });
    const { client, runtime } = installation;
    try {
      await fill(installation);
      say(`${people} people have something to be told`);
      await installation.startWorker({ emailProviders: { urls: { providera: url } } });
      const startedAt = performance.now();
      // Nobody waits for the next minute of the schedule.
      await runtime.temporal.start(sendDueNotificationsContract, {}, { repeat: 'again', search: {} });
      let accepted: Accepted;
      do {
        await pause(pollMs);
        accepted = await provider.ask<Accepted>({});
        if (performance.now() - startedAt > maxMs) await check(client, accepted);
      } while (accepted.people < people);
      const seconds = (performance.now() - startedAt) / 1_000;
      await check(client, accepted);
      say(`${seconds.toFixed(1)} s, ${accepted.requests} requests`);
      return [
        {
          name: 'digest-10k',
          unit: 's',
          ours: seconds,
          reference: null,
          ratio: null,
          spread: 0,
          note: `until the last digest of ${people} people in ${organizations} organizations is accepted by the provider, in ${accepted.requests} requests`,
        },
      ];
    } finally {
      await installation.close();
      await provider.stop();
    }
  },
};

type Row = Readonly<Record<string, unknown>>;

/** People with a task each, of which they were told some times two days ago, and who want to be told daily. */
async function fill({ runtime, client }: BenchInstallation): Promise<void> {
  const share = Math.ceil(people / organizations);
  for (let done = 0; done < people; done += share) {
    const count = Math.min(share, people - done);
    const { id: organizationId } = await runtime.database.transact(benchContext(), ({ data }) =>
      data.create(organization, { name: `organization-${done}` }),
    );
    await runtime.database.transact(benchContext(), (unit) => fillOne(unit, organizationId, count));
  }
  await client.query(
    `update notification_sendings set told_at = now() - interval '2 days', due_at = now() - interval '1 second'`,
  );
  await client.query('vacuum analyze');
}

/** As listeners leave it, without history and events. */
async function fillOne(unit: UnitOfWork, organizationId: string, count: number): Promise<void> {
  const session = await unit.readAs('system');
  const stamp = { at: unit.clock.now(), actor: 'system:benchmark' };
  const add = async (module: EntityModule, rows: readonly Row[]) =>
    (await insertRows(session, module, rows, stamp)).map(({ id }) => id);
  const numbers = Array.from({ length: count }, (_none, n) => n);
  const userIds = await add(
    user,
    numbers.map((n) => ({ email: `${organizationId}-${n}@example.com`.toLowerCase(), displayName: `Person ${n}` })),
  );
  const each = (row: (userId: string, n: number) => Row) =>
    userIds.map((userId, n) => ({ organizationId, ...row(userId, n) }));
  await add(
    membership,
    each((userId) => ({ userId, role: 'member' })),
  );
  await add(
    notificationPreference,
    each((userId) => ({ userId, channel: 'email', cadence: 'daily' })),
  );
  const taskIds = await add(
    task,
    each((assigneeId, n) => ({ assigneeId, title: `Review number ${n}` })),
  );
  for (let round = 0; round < notificationsOfEach; round++) {
    const told = { topic: 'task.assigned', title: 'A task was assigned to you', targetKind: 'task' };
    const notificationIds = await add(
      notification,
      each((userId, n) => {
        const taskId = taskIds[n];
        return {
          ...told,
          userId,
          shownTo: userId,
          body: `Review number ${n}`,
          link: `/tasks/${taskId}`,
          targetId: taskId,
          eventId: newId(),
        };
      }),
    );
    const common = { organizationId, channel: 'email', topic: told.topic, isDefault: true, isUrgent: false };
    await addSendings(
      unit,
      userIds.map((userId, n) => ({
        ...common,
        userId,
        notificationId: notificationIds[n] as string,
        dueAt: stamp.at,
        requestId: 'benchmark',
      })),
    );
  }
}

/** Everybody got one digest with all that they were to be told. */
async function check(client: BenchInstallation['client'], { mails, people: reached }: Accepted): Promise<void> {
  const { rows } = await client.query<{ covered: number; digests: number }>(
    `select (select count(*) from notification_sendings where state = 'collected')::int as covered,
       (select count(*) from notification_digests where state = 'sent')::int as digests`,
  );
  const [found] = rows;
  if (
    mails !== people ||
    reached !== people ||
    found?.digests !== people ||
    found.covered !== people * notificationsOfEach
  )
    throw new Error(`digest-10k: ${mails} mails to ${reached} people, ${JSON.stringify(found)}`);
}

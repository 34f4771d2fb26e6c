import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { declaredDueWork } from '#entities/declared-due-work.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../kit/as-owner.ts';
import { sampleOf, seeded } from '../kit/depth.ts';
import { createdEndpoint } from '../kit/events/created-endpoint.ts';
import { isSettled } from '../kit/events/event-fixtures.ts';
import { assign, mailsOf, nextMorning, ownerAndMember, prefer, type Teller } from '../kit/events/told-people.ts';
import { eventually } from '../kit/eventually.ts';
import { WebhookSink } from '../kit/fakes/webhook-sink.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { ProductProcesses } from '../kit/processes/product-processes.ts';
import { diskSettings, providerVariable } from '../kit/storage-settings.ts';
import { recordTried } from '../kit/tried.ts';
import { openWorld, type World } from '../kit/world.ts';
import { expectNoByteLost, letTimePass, storedOnDisk } from './file-checks.ts';
import { api, worker } from './file-failpoints.ts';
import { FileTraffic } from './file-traffic.ts';

/** Queues that get no work here: nobody announces the deletion of an organization, and no organization has a chat. */
const idle: ReadonlySet<string> = new Set([
  'notification/chat-digests',
  'notification/chat-sendings',
  'organization/announced-deletions',
]);

const driven = declaredDueWork.filter(({ name }) => !idle.has(name));

/** Where the worker dies, one life after the other: it has claimed work of a queue, or has begun it. */
const boundaries = driven.flatMap(({ name: queue }) =>
  (['work-claimed', 'work-begun'] as const).map((failpoint) => ({ queue, failpoint })),
);
const deaths = sampleOf('killed due work', boundaries, { by: [({ queue }) => queue] });

let folder: string;
let world: World;
let sink: WebhookSink;
let owner: Teller;
/** Gets an e-mail about each task. */
let member: Teller;
let product: ProductProcesses;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'core-killed-due-work-'));
  world = await openWorld({
    environment: {
      CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true',
      CORE_OBJECTSTORAGE_DEVMODE: 'false',
      ...diskSettings(join(folder, 'files')),
      [providerVariable('disk.backup.enabled')]: 'true',
    },
  });
  sink = await WebhookSink.open();
  ({ owner, member } = await ownerAndMember(world));
  product = await ProductProcesses.start(world, [api, worker], {
    [worker]: deaths.map(({ queue, failpoint }) => ({ FAILPOINTS: `${failpoint}:${queue}=kill@0` })),
  });
});
afterAll(async () => {
  await product.close();
  await sink.close();
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

/** A member who gets an e-mail a day. */
async function dailyReader(): Promise<Person> {
  const person = await buildPerson(world, { organization: owner.person.organization, role: 'member' });
  await prefer(await signedIn(world, person), { channel: 'email', cadence: 'daily' });
  return person;
}

/** What is held back is sent today, and leases of dead processes end. */
async function passTime(): Promise<void> {
  await nextMorning(world, owner.person);
  for (const { table, dueAt, waits } of declaredDueWork.map(({ rows }) => rows))
    await asOwner(
      world,
      `update ${table} set ${dueAt} = now() - interval '1 second' where ${waits} and ${dueAt} > now() + interval '1 minute'`,
    );
  await letTimePass(world);
}

test('a worker that dies when it has claimed or begun work of a queue: nothing is lost, nothing happens twice', async () => {
  await createdEndpoint(owner.client, sink);
  const traffic = await FileTraffic.of(world, {
    urls: () => product.apiUrls,
    random: seeded('traffic of due work'),
    maxFiles: () => 10,
  });
  const end = new AbortController();
  const clients = traffic.run(end.signal);
  clients.catch(() => {});
  const [, place] = product.places;
  const tasks: { readonly id: string; readonly title: string; readonly reader: Person }[] = [];
  try {
    await eventually(async () => {
      product.refuseCrashes();
      // Each life has something to do in each queue.
      const died = place?.deaths ?? 0;
      if (tasks.length <= 2 * died)
        for (const reader of [member.person, await dailyReader()]) {
          const title = `task ${newId()}`;
          tasks.push({ id: await assign(owner.client, reader, title), title, reader });
        }
      await passTime();
      await pause(500);
      return died >= deaths.length;
    }, 600_000);
  } finally {
    end.abort();
  }
  await clients;
  expect(traffic.unexpected).toEqual([]);
  await eventually(() => isSettled(world));
  const mailsAbout = async ({ title, reader }: (typeof tasks)[number]) =>
    (await mailsOf(world, reader)).filter((mail) => mail.includes(title)).length;
  await eventually(async () => {
    await passTime();
    return (await Promise.all(tasks.map(mailsAbout))).every((count) => count > 0);
  });
  expect(await Promise.all(tasks.map(mailsAbout))).toEqual(tasks.map(() => 1));
  // What arrived a second time has the same id, so a receiver leaves it out.
  await eventually(
    async () => (await asOwner(world, `select 1 from webhook_messages where state = 'due'`)).length === 0,
  );
  const messages = new Map(sink.received.map(({ headers, body }) => [String(headers['webhook-id']), JSON.parse(body)]));
  const created = [...messages.values()]
    .filter(({ type }) => type === 'task.created')
    .map(({ data }) => String(data.id));
  expect(created.toSorted()).toEqual(tasks.map(({ id }) => id).toSorted());
  // It ends with `verify`, which knows every queue.
  const copies = await expectNoByteLost(
    world,
    traffic.files,
    ['files', 'files-backup'].map((name) => storedOnDisk(join(folder, name))),
  );
  expect(copies).toBeGreaterThan(0);
  product.refuseCrashes();
  for (const { queue, failpoint } of deaths) recordTried(`kills at ${failpoint} of ${queue}`, 1);
});

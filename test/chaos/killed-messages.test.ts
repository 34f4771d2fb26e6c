// Left to npm run prove; npm test has test/workflows/webhooks/webhook-attempts.test.ts.
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Failpoint } from '#entities/kit/base/failpoint.ts';
import { asOwner } from '../kit/as-owner.ts';
import { createdEndpoint, type TestEndpoint } from '../kit/events/created-endpoint.ts';
import { seeded, timesOf } from '../kit/depth.ts';
import { eventually, eventuallyNone } from '../kit/eventually.ts';
import { FakeProviderB } from '../kit/fakes/fake-provider-b.ts';
import { WebhookSink } from '../kit/fakes/webhook-sink.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { ProductProcesses } from '../kit/processes/product-processes.ts';
import type { Random } from '../kit/random.ts';
import { recordTried } from '../kit/tried.ts';
import { openWorld, type World } from '../kit/world.ts';
import { prepareTestStack, type StartedTestStack } from '../setup/test-stack.ts';
import { ChangeTraffic } from './change-traffic.ts';
import { repeat } from './patient-client.ts';
import { expectAgreement } from './recovery-checks.ts';

// On servers of its own, which are really killed.

const kills = timesOf({ sample: 50, prove: 200 });
/** Kills between two checks of all that happened so far; an organization sends a limited number of mails a day. */
const killsPerCheck = 20;
/** Longest time between two kills, in milliseconds. */
const maxPauseMs = 1_500;
/** Longest time for which a server is away, in milliseconds. */
const maxAwayMs = 2_000;
/** Share of the answers of providers and endpoints that are failures. */
const failing = 0.3;

const worker = 'worker/worker-main.ts';
const victims = ['api/api-main.ts', worker, 'temporal', 'postgres'] as const;

/** Where workers die first, one life after the other, with the passes that they survive; those of a folder are in failpoints.test.ts. */
const deaths: readonly (readonly [Failpoint, number])[] = [
  ['email-before-send', 1],
  ['email-accepted', 1],
  ['work-claimed', 1],
  ['webhook-claimed', 2],
  ['email-accepted', 0],
  ['webhook-sent', 3],
  ['webhook-settled', 2],
];

let stateDir: string;
let own: StartedTestStack;
let world: World;
let provider: FakeProviderB;
let product: ProductProcesses;
beforeAll(async () => {
  stateDir = await realpath(await mkdtemp(join(tmpdir(), 'core-killed-messages-')));
  own = await prepareTestStack(stateDir, () => {});
  // Test servers answer before what they were told is out of their memory; these here are going to be killed.
  const anyDatabase = { databaseUrl: own.stack.postgresUrl.replace('DATABASE', 'postgres') };
  await asOwner(anyDatabase, 'alter role all set synchronous_commit = on');
  await own.servers.restart('openfga');
  provider = await FakeProviderB.start();
  world = await openWorld({
    stack: own.stack,
    environment: {
      CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true',
      CORE_INTEGRATIONS_EMAIL_TESTDIR: '',
      // The one that does not recognize a repeated request.
      CORE_INTEGRATIONS_EMAIL_PROVIDER: 'providerb',
      CORE_INTEGRATIONS_EMAIL_PROVIDERB_SERVERTOKEN: provider.serverToken,
      EMAIL_PROVIDERB_URL: provider.url,
      EMAIL_PROVIDER_ASK_AFTER_MS: '1000',
    },
  });
  product = await ProductProcesses.start(world, ['api/api-main.ts', worker, worker], {
    [worker]: deaths.map(([name, passes]) => ({ FAILPOINTS: `${name}=kill@${passes}` })),
  });
  await eventually(() => product.places.every(({ current }) => current.isServing));
});
afterAll(async () => {
  await product.close();
  await world.close();
  await provider.close();
  await own.servers.stop();
  await rm(stateDir, { recursive: true, force: true });
});

/** The server of a customer that fails now and then. It knows what it has accepted when. */
class FailingSink {
  /** Every arrival, in order: the message, what it is about, and whether it was accepted. */
  readonly arrivals: {
    readonly id: string;
    readonly record: string;
    readonly version: number;
    readonly isAccepted: boolean;
  }[] = [];

  constructor(sink: WebhookSink, random: Random) {
    sink.answer = ({ headers, body }) => {
      const { data } = JSON.parse(body) as { readonly data: { readonly id: string; readonly version: number } };
      const status = random.chance(failing) ? random.pick([400, 429, 500, 502, 503]) : 204;
      this.arrivals.push({
        id: String(headers['webhook-id']),
        record: data.id,
        version: data.version,
        isAccepted: status === 204,
      });
      return { status };
    };
  }
}

/** Pauses after failed attempts end at once, as if time had passed. Messages that are being sent stay as they are. */
async function passTime(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await Promise.allSettled([
      // PostgreSQL may be away.
      asOwner(
        world,
        `update webhook_messages set due_at = now() where state = 'due' and claim_id is null and due_at > now()`,
      ),
      asOwner(world, 'update webhook_queues set blocked_until = null, next_at = now() where blocked_until > now()'),
    ]);
    await pause(250);
  }
}

async function kill(victim: (typeof victims)[number], random: Random): Promise<void> {
  if (victim === 'temporal' || victim === 'postgres') {
    // A process that begins while a server is away ends by itself, and waits to be started again, which nobody does here.
    await eventually(() => product.places.every(({ current }) => current.isServing));
    await own.servers.kill(victim);
    await pause(random.next() * maxAwayMs);
    await own.servers.restart(victim);
    return;
  }
  const place = await eventually(() =>
    random.shuffled(product.places).find(({ program, current }) => program === victim && current.isServing),
  );
  await place.current.kill();
}

/** What was committed was sent to an endpoint: nothing is missing, each event has one message, and a record's messages came in order. */
async function expectAllSent(
  { user, organization }: Person,
  { arrivals }: FailingSink,
  isOrdered: boolean,
): Promise<string[]> {
  // The server adds some tasks to a new organization, perhaps before it has endpoints.
  const events = await asOwner<{ id: string; what: string; isTheirs: boolean }>(
    world,
    `select id, entity_id || '@' || record_version as what, actor = $2 as "isTheirs" from events
     where organization_id = $1 and entity_kind = 'task'`,
    [organization.id, `user:${user.id}`],
  );
  const accepted = new Set(arrivals.filter(({ isAccepted }) => isAccepted).map(({ id }) => id));
  expect(events.filter(({ id, isTheirs }) => isTheirs && !accepted.has(id))).toEqual([]);
  expect(accepted.difference(new Set(events.map(({ id }) => id)))).toEqual(new Set());
  const idsByWhat = Map.groupBy(arrivals, ({ record, version }) => `${record}@${version}`);
  for (const [what, copies] of idsByWhat) expect(new Set(copies.map(({ id }) => id)).size, what).toBe(1);
  if (isOrdered)
    for (const [record, messages] of Map.groupBy(arrivals, (arrival) => arrival.record)) {
      let done = 0;
      for (const { version, isAccepted } of messages) {
        // The one before was accepted. After a crash it may come once more.
        expect(version, record).toBeLessThanOrEqual(done + 1);
        if (isAccepted) done = Math.max(done, version);
      }
    }
  return events.map(({ what }) => what);
}

async function count(what: string, values: readonly unknown[] = []): Promise<number> {
  const [row] = await asOwner<{ count: number }>(world, `select count(*)::int ${what}`, values);
  return row?.count ?? 0;
}

async function expectOneMailEach(invited: readonly string[]): Promise<void> {
  const wanted = new Set(invited);
  await eventuallyNone(() =>
    count(
      `from invites i left join emails e on e.about_id = i.id where i.recipient = any($1) and e.status is distinct from 'sent'`,
      [invited],
    ),
  );
  const mails = Map.groupBy(
    provider.accepted.filter(({ To }) => wanted.has(To)),
    ({ To }) => To,
  );
  expect([...mails.keys()].toSorted()).toEqual([...invited].toSorted());
  expect([...mails].filter(([, copies]) => copies.length !== 1).map(([address]) => address)).toEqual([]);
}

/** Somebody changes tasks and invites people while something happens. Afterwards everything has arrived as it should. */
async function underTraffic(random: Random, meanwhile: (visits: Promise<unknown>) => Promise<void>): Promise<void> {
  const owner: Person = await buildPerson(world);
  const client = await signedIn(world, owner);
  const sinks = [await WebhookSink.open(), await WebhookSink.open()] as const;
  const [ordered, unordered] = sinks.map((sink) => new FailingSink(sink, random)) as [FailingSink, FailingSink];
  const limits = { max_per_second: 1_000 };
  const endpoints: TestEndpoint[] = [
    await createdEndpoint(client, sinks[0], limits),
    await createdEndpoint(client, sinks[1], { ...limits, ordering: 'none' }),
  ];
  provider.next.splice(0);
  provider.next.push(
    ...Array.from({ length: 20_000 }, () =>
      random.chance(failing) ? random.pick(['fail', 'limit', 'accept-and-cut']) : ('accept' as const),
    ),
  );
  const traffic = await ChangeTraffic.of(world, owner, { urls: () => product.apiUrls });
  const [end, endOfTime] = [new AbortController(), new AbortController()];
  const time = passTime(endOfTime.signal);
  const visits = Promise.all([1, 2].map(() => repeat(end.signal, () => traffic.visit(), 400)));
  visits.catch(() => {});
  try {
    await meanwhile(visits);
  } finally {
    end.abort();
  }
  await visits;
  product.refuseCrashes();
  expect(traffic.unexpected).toEqual([]);
  await eventuallyNone(() => count('from events where pending and settled_at is null'));
  await eventuallyNone(() =>
    count(`from webhook_messages where endpoint_id = any($1) and state <> 'delivered'`, [
      endpoints.map(({ id }) => id),
    ]),
  );
  await expectOneMailEach(traffic.invited);
  endOfTime.abort();
  await time;
  const sent = new Set(await expectAllSent(owner, ordered, true));
  await expectAllSent(owner, unordered, false);
  expect(traffic.changed.filter((what) => !sent.has(what))).toEqual([]);
  await expectAgreement(world);
  recordTried('messages that were sent', ordered.arrivals.length + unordered.arrivals.length);
  recordTried('mails that were sent', traffic.invited.length);
  await Promise.all(sinks.map((sink) => sink.close()));
}

test('workers die at every failpoint of mails and messages while a third of all answers fails: no mail twice, every message in order', async () => {
  await underTraffic(seeded('failpoints of messages'), async (visits) => {
    for (const place of product.places) await Promise.race([place.untilFirstLivesEnded(), visits]);
  });
  for (const { program, deaths } of product.places)
    recordTried(`kills of ${program} at failpoints of mails and messages`, deaths);
});

test('API, workers, Temporal and PostgreSQL are killed while a third of all answers fails: no mail twice, every message in order', async () => {
  const random = seeded('killed messages');
  for (let done = 0; done < kills; done += killsPerCheck) {
    const goal = Math.min(kills, done + killsPerCheck);
    await underTraffic(random, async (visits) => {
      for (let number = done; number < goal; number++) {
        await pause(random.next() * maxPauseMs);
        const victim = victims[number % victims.length] as (typeof victims)[number];
        await Promise.race([kill(victim, random), visits]);
        recordTried(`kills of ${victim} while mails and messages are sent`, 1);
      }
    });
    console.log(`${goal} of ${kills} kills`);
  }
});

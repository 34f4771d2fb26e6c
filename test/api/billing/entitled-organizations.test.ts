import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { followLapse } from '#activities/billing/follow-lapse.ts';
import {
  integration,
  membership,
  organization,
  organizationBilling,
  organizationModule,
  user,
} from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { ChangesOf } from '#entities/kit/model/define.ts';
import { EventSubscriber } from '../../kit/events/event-subscriber.ts';
import { asSystem, transactAs } from '../../kit/as-person.ts';
import { expectProblem, messageOf } from '../../kit/expect-problem.ts';
import { sendSigned } from '../../kit/http/signed-webhook.ts';
import { buildPart, buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

const page = 'https://console.example.com/plan';
const billed = {
  CORE_SUBSCRIPTION_ENABLED: 'true',
  CORE_SUBSCRIPTION_PRIVATEPAYMENTKEY: 'sk_test_key',
  CORE_SUBSCRIPTION_PAYMENTBILLINGPORTALSUCCESSURL: page,
  CORE_SUBSCRIPTION_PAYMENTCANCELLATIONRETURNURL: page,
  CORE_ORMCONFIG_MODULES_ENABLED: 'true',
  CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
  CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40),
  CORE_SERVER_ENABLEGRAPHSUBSCRIPTIONS: 'true',
};

let world: World;
let elsewhere: Instance;
let unbilled: Instance;
let demanding: Instance;
let exempting: Instance;

beforeAll(async () => {
  world = await openWorld({ environment: billed });
  elsewhere = await world.openInstance();
  const requiring = { CORE_ORMCONFIG_BILLING_REQUIREPAYMENTMETHOD: 'true' };
  [unbilled, demanding, exempting] = await Promise.all([
    world.openInstance({ environment: { CORE_SUBSCRIPTION_ENABLED: 'false' } }),
    world.openInstance({ environment: requiring }),
    world.openInstance({ environment: { ...requiring, CORE_ORMCONFIG_BILLING_BYPASSEMAILDOMAINS: 'partner.example' } }),
  ]);
});
afterAll(() => world.close());

/** Changes the billing of an organization as the server does. */
async function bill(organizationId: string, values: { isLapsed?: boolean; hasPaymentMethod?: boolean }): Promise<void> {
  await asSystem(world, organizationId, async (data) => {
    const held = await data.findOne(organizationBilling, { organizationId: { eq: organizationId } });
    await data.update(organizationBilling, held?.id ?? '', values);
  });
}

async function grant(organizationId: string, endsAt: Date | null = null): Promise<void> {
  await asSystem(world, organizationId, (data) =>
    data.create(organizationModule, { module: 'registry', source: 'granted', endsAt }),
  );
}

function program(instance: Pick<World, 'client'>, token: string): TestClient {
  const made = instance.client();
  made.bearer = token;
  return made;
}

async function tokenOf(client: TestClient, path: string, body: object = {}): Promise<string> {
  const answer = await client.post(path, { name: 'program', scopes: ['task:read'], ...body });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body.token;
}

const featuresOf = async (client: TestClient) => (await client.get('/v1/account/features')).body.features;
const switchTo = (client: TestClient, id: string) => client.post('/v1/switch', { target_organization_id: id });

describe('an organization that somebody creates', () => {
  const trial = ['compliance', 'registry', 'trust_center'];
  const created = async (client: TestClient, body: object = {}) =>
    (await client.post('/v1/organizations', { name: `company ${newId()}`, ...body })).body.id as string;

  test('begins with a trial of 30 days in the same transaction, which covers the organizations below it', async () => {
    const client = await signedIn(world, await buildPerson(world));
    const before = world.clock.now().getTime();
    const id = await created(client);
    await switchTo(client, id);
    const features = await featuresOf(client);
    expect(features.map(({ module }: { module: string }) => module)).toEqual(trial);
    for (const { source, ends_at: endsAt } of features) {
      expect(source).toBe('trial');
      expect(Date.parse(endsAt) - before).toBeGreaterThanOrEqual(30 * 86_400_000);
    }
    const part = await created(client, { parent_id: id });
    expect(await asSystem(world, part, (data) => data.find(organizationModule, { limit: 10 }))).toEqual([]);
    expect(await asSystem(world, part, (data) => data.find(organizationBilling, { limit: 10 }))).toEqual([]);
    await switchTo(client, part);
    expect(await featuresOf(client)).toEqual(features);
  });

  test('has no trial while subscription.enabled is off', async () => {
    shows('subscription.enabled');
    const client = await signedIn(unbilled, await buildPerson(world));
    await switchTo(client, await created(client));
    expect(await featuresOf(client)).toEqual([]);
  });
});

describe('the features of an organization', () => {
  test('name their source and end, and a granted one ends at its time', async () => {
    const person = await buildPerson(world);
    const endsAt = new Date(world.clock.now().getTime() + 3_600_000);
    await grant(person.organization.id, endsAt);
    const features = () =>
      Promise.all([world, unbilled].map(async (instance) => featuresOf(await signedIn(instance, person))));
    const granted = [{ module: 'registry', source: 'granted', ends_at: endsAt.toISOString() }];
    expect(await features()).toEqual([granted, granted]);
    world.clock.advance(3_600_000);
    expect(await features()).toEqual([[], []]);
  });

  test('are those that were granted alone while subscription.enabled is off', async () => {
    const person = await buildPerson(world);
    await grant(person.organization.id);
    await asSystem(world, person.organization.id, async (data) => {
      for (const source of ['subscription', 'trial', 'base'] as const)
        await data.create(organizationModule, { module: 'compliance', source });
    });
    const named = async (instance: Pick<World, 'client'>) =>
      (await (await signedIn(instance, person)).get('/v1/account/userinfo')).body.modules;
    expect(await named(world)).toEqual(['compliance', 'registry']);
    expect(await named(unbilled)).toEqual(['registry']);
  });
});

describe('an API token of a lapsed organization', () => {
  let owner: Person;
  let token: string;
  beforeAll(async () => {
    owner = await buildPerson(world);
    token = await tokenOf(await signedIn(world, owner), '/v1/api-tokens');
  });

  test('is refused from the next request on in every process, and works again after payment', async () => {
    shows('subscription.paymentbillingportalsuccessurl');
    const programs = [program(world, token), program(elsewhere, token)];
    const ask = () =>
      Promise.all(
        programs.flatMap((one) => [one.get('/v1/tasks'), one.graphql('{ tasks { edges { node { id } } } }')]),
      );
    for (const { status } of await ask()) expect(status).toBe(200);
    await bill(owner.organization.id, { isLapsed: true });
    for (const answer of await ask()) {
      expect(answer.status).toBe(403);
      expect(JSON.stringify(answer.body)).toContain('subscription_inactive');
      expect(messageOf(answer)).toContain(page);
    }
    expect((await program(unbilled, token).get('/v1/tasks')).status).toBe(200);
    await bill(owner.organization.id, { isLapsed: false });
    for (const { status } of await ask()) expect(status).toBe(200);
  });

  test('has its subscription to changes ended', async () => {
    const { url } = await world.listen();
    const changes = 'subscription { recordChanged(kinds: [TASK]) { id cursor } }';
    const events = await EventSubscriber.open(url, changes, { authorization: `Bearer ${token}` });
    await events.next();
    await bill(owner.organization.id, { isLapsed: true });
    expect(await events.next()).toMatchObject({ errors: [{ extensions: { code: 'subscription_inactive' } }] });
    await bill(owner.organization.id, { isLapsed: false });
  });

  test('is refused below it as well; people and their personal tokens are not', async () => {
    const part = await buildPart(world, owner.organization.id);
    const client = await signedIn(world, owner);
    const personal = await tokenOf(client, '/v1/personal-access-tokens');
    await switchTo(client, part.id);
    const below = program(world, await tokenOf(client, '/v1/api-tokens'));
    expect((await below.get('/v1/tasks')).status).toBe(200);
    await bill(owner.organization.id, { isLapsed: true });
    expectProblem(await below.get('/v1/tasks'), 'subscription_inactive');
    expect((await client.get('/v1/tasks')).status).toBe(200);
    expect((await program(world, personal).get('/v1/tasks')).status).toBe(200);
    await bill(owner.organization.id, { isLapsed: false });
  });
});

describe('a payment method', () => {
  /** What needs one, over REST and GraphQL. */
  async function answersOf(instance: Pick<World, 'client'>, person: Person, organizationIds: readonly string[] = []) {
    const client = await signedIn(instance, person);
    const name = newId();
    return [
      await client.post('/v1/api-tokens', { name, scopes: ['task:read'] }),
      await client.post('/v1/personal-access-tokens', {
        name,
        scopes: ['task:read'],
        organization_ids: organizationIds,
      }),
      await client.post('/v1/integrations', { name }),
      await client.graphql(`mutation { createIntegration(input: { name: "other ${name}" }) { integration { id } } }`),
    ];
  }
  const isCreated = ({ status, body }: Awaited<ReturnType<typeof answersOf>>[number]) =>
    status === 201 || (status === 200 && body.errors === undefined);

  test('is required for tokens and integrations where the operator says so, until the organization has one', async () => {
    shows('ormconfig.billing.requirepaymentmethod');
    const person = await buildPerson(world);
    expect((await answersOf(world, person)).map(isCreated)).toEqual([true, true, true, true]);
    for (const answer of await answersOf(demanding, person)) {
      expect(JSON.stringify(answer.body)).toContain('payment_method_required');
      expect(messageOf(answer)).toContain(page);
    }
    await bill(person.organization.id, { hasPaymentMethod: true });
    expect((await answersOf(demanding, person)).map(isCreated)).toEqual([true, true, true, true]);
  });

  test('is not required of a personal organization', async () => {
    const person = await buildPerson(world);
    const home = await transactAs(world.runtime, systemCaller('test'), async ({ data }) => {
      const made = await data.create(organization, { name: `personal-${newId()}`, isPersonal: true });
      await data.create(membership, { organizationId: made.id, userId: person.user.id, role: 'owner' });
      return { ...made };
    });
    const there = { ...person, organization: home };
    expect((await answersOf(demanding, there, [home.id])).map(isCreated)).toEqual([true, true, true, true]);
    // A personal token works in the organizations that it names, and in all without a list.
    for (const named of [[], [home.id, person.organization.id]]) {
      const [, personal, ...others] = await answersOf(demanding, there, named);
      expectProblem(personal!, 'payment_method_required');
      expect(others.map(isCreated)).toEqual([true, true]);
    }
  });

  test('is not required of organizations whose founder has a confirmed address in an exempt domain', async () => {
    shows('ormconfig.billing.bypassemaildomains');
    const founded = async (email: string): Promise<Person> => {
      const person = await buildPerson(world, { email });
      const client = await signedIn(world, person);
      const { body } = await client.post('/v1/organizations', { name: `company ${newId()}` });
      return { ...person, organization: { ...person.organization, id: body.id } };
    };
    const change = (id: string, values: ChangesOf<typeof user>) =>
      transactAs(world.runtime, systemCaller('test'), ({ data }) => data.update(user, id, values));
    const outcomes = async (person: Person, instance: Pick<World, 'client'> = exempting) =>
      (await answersOf(instance, person, [person.organization.id])).every(isCreated);
    const founder = await founded(`ada-${newId().toLowerCase()}@partner.example`);
    expect(await outcomes(founder)).toBe(true);
    expect(await outcomes(founder, demanding)).toBe(false);
    expect(await outcomes(await founded(`ada-${newId().toLowerCase()}@sub.partner.example`))).toBe(false);
    // Nobody founded it.
    expect(await outcomes(await buildPerson(world, { email: `ben-${newId().toLowerCase()}@partner.example` }))).toBe(
      false,
    );
    // Another owner decides nothing.
    const colleague = await buildPerson(world, { organization: founder.organization });
    expect(await outcomes(colleague)).toBe(true);
    await change(founder.user.id, { emailConfirmedAt: null });
    expect(await outcomes(colleague)).toBe(false);
    await change(founder.user.id, { emailConfirmedAt: world.clock.now() });
    expect(await outcomes(colleague)).toBe(true);
    await change(founder.user.id, { email: `ada-${newId().toLowerCase()}@elsewhere.example` });
    expect(await outcomes(colleague)).toBe(false);
  });
});

test('a lapse disables the integrations of the organization and of those below it, and payment enables these again', async () => {
  const owner = await buildPerson(world);
  const part = await buildPart(world, owner.organization.id);
  const client = await signedIn(world, owner);
  const ids: Record<string, string> = {};
  const create = async (organizationId: string, status: 'pending' | 'connected' | 'errored' | 'disabled') => {
    const { id } = await asSystem(world, organizationId, (data) => data.create(integration, { name: newId(), status }));
    return id;
  };
  for (const status of ['pending', 'connected', 'errored', 'disabled'] as const)
    ids[status] = await create(owner.organization.id, status);
  const below = await create(part.id, 'connected');
  const foreign = await create((await buildPerson(world)).organization.id, 'connected');
  const input = { integration_id: ids['connected'], name: newId() };
  const { body: webhook } = await client.post('/v1/integration-webhooks', input);
  const receive = async () =>
    (
      await sendSigned(world, {
        url: `/v1/integrations/webhook/${webhook.id}`,
        secret: webhook.secret,
        body: JSON.stringify({ type: 'changed' }),
      })
    ).status;
  const follow = (isLapsed: boolean) =>
    transactAs(world.runtime, systemCaller('test'), (unit) => followLapse(unit, owner.organization.id, isLapsed));
  const statuses = () =>
    transactAs(world.runtime, systemCaller('test'), async ({ data }) => {
      const found = await data.find(integration, {
        where: { id: { in: [...Object.values(ids), below, foreign] } },
        limit: 10,
      });
      return Object.fromEntries(found.map(({ id, status, statusBeforeLapse }) => [id, [status, statusBeforeLapse]]));
    });
  const before = await statuses();
  expect(await receive()).toBe(200);

  for (let time = 0; time < 2; time++) {
    await follow(true);
    expect(await statuses()).toEqual({
      ...Object.fromEntries(Object.entries(before).map(([id, [status]]) => [id, ['disabled', status]])),
      [ids['disabled'] as string]: ['disabled', null],
      [foreign]: ['connected', null],
    });
    expect(await receive()).toBe(404);
  }
  for (let time = 0; time < 2; time++) {
    await follow(false);
    expect(await statuses()).toEqual(before);
    expect(await receive()).toBe(200);
  }
});

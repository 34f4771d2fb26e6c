import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ worker: true });
});
afterAll(() => world.close());

test('answers create the organization that they describe, once for each time they are given', async () => {
  const client = await signedIn(world, await buildPerson(world));
  const answer = await client.post('/v1/onboardings', {
    company_name: 'Analytical  Engines',
    domains: ['Engines.example', 'engines.example'],
    company_details: { size: '11-50' },
    compliance: { frameworks: ['SOC 2'] },
  });
  expect(answer.status).toBe(201);
  const { id, created_organization_id: organizationId } = answer.body;
  const kept = (await client.get(`/v1/onboardings/${id}`)).body;
  expect(kept).toMatchObject({
    company_name: 'Analytical  Engines',
    domains: ['engines.example'],
    company_details: { size: '11-50' },
    compliance: { frameworks: ['SOC 2'] },
    created_organization_id: organizationId,
  });
  expect((await client.get(`/v1/organizations/${organizationId}`)).body.name).toBe('Analytical  Engines');
  expect((await client.post('/v1/switch', { target_organization_id: organizationId })).status).toBe(200);
  const settings = (await client.get('/v1/organization-settings')).body.data;
  expect(settings).toMatchObject([{ email_domains: ['engines.example'], admits_email_domains: false }]);

  const again = await client.graphql(
    'mutation ($input: CreateOnboardingInput!) { createOnboarding(input: $input) { onboarding { id companyName } organization { name } } }',
    { input: { companyName: 'Analytical Engines' } },
  );
  expect(again.data.createOnboarding.organization.name).toMatch(/^Analytical Engines [0-9A-Z]{6}$/);

  // The first tasks of a new organization are suggested to its owner, each once.
  const tasks = await eventually(async () => {
    const { body } = await client.get('/v1/tasks');
    return body.data.length > 0 && body.data;
  });
  const sources = tasks.map((one: { external_id: string }) => one.external_id);
  expect(sources).toContain('onboarding/invite-members');
  expect(new Set(sources).size).toBe(sources.length);
});

test('answers are nobody else’s, and refused ones leave nothing', async () => {
  const [client, other] = [
    await signedIn(world, await buildPerson(world)),
    await signedIn(world, await buildPerson(world)),
  ];
  const { body } = await client.post('/v1/onboardings', { company_name: 'Private answers' });
  expectProblem(await other.get(`/v1/onboardings/${body.id}`), 'not_found');
  expectProblem(await world.client().post('/v1/onboardings', { company_name: 'Nobody' }), 'unauthenticated');
  const count = async () => (await asOwner(world, 'select 1 from organizations')).length;
  const before = await count();
  for (const wrong of [
    { company_name: 'ab' },
    { company_name: 'Good name', domains: ['not a domain'] },
    { company_name: 'Good name', company_details: { text: 'x'.repeat(20_000) } },
  ])
    expectProblem(await client.post('/v1/onboardings', wrong), 'invalid_input');
  expectGraphqlError(
    await client.graphql('mutation { createOnboarding(input: { companyName: "x" }) { onboarding { id } } }'),
    'invalid_input',
  );
  expect(await count()).toBe(before);
});

test('people have settings from the beginning, which nobody else sees or changes', async () => {
  const person = await buildPerson(world);
  const [client, other] = [await signedIn(world, person), await signedIn(world, await buildPerson(world))];
  const { body } = await client.get('/v1/user-settings');
  expect(body.data).toMatchObject([{ timezone: null, locale: 'en', color_scheme: 'system' }]);
  const [{ id }] = body.data;
  const change = (payload: object, by = client) =>
    by.mutate({ method: 'PATCH', url: `/v1/user-settings/${id}`, payload });
  expect((await change({ timezone: 'Europe/Berlin', locale: 'pt-BR', color_scheme: 'dark' })).body).toMatchObject({
    timezone: 'Europe/Berlin',
    locale: 'pt-BR',
    color_scheme: 'dark',
  });
  for (const wrong of [{ locale: 'german' }, { timezone: '../etc' }, { color_scheme: 'pink' }])
    expectProblem(await change(wrong), 'invalid_input');
  for (const timezone of ['Mars/Olympus', 'europe/berlin', '+02:00', 'Europe/', ' UTC', '']) {
    const answer = await change({ timezone });
    expectProblem(answer, 'invalid_input', timezone);
    expect(answer.body.errors[0]).toMatchObject({ path: '/timezone' });
  }
  expect((await change({ timezone: 'Mars/Olympus' })).body.errors).toEqual([
    { path: '/timezone', message: 'must be a time zone of the IANA database such as Europe/Vienna' },
  ]);
  // Names of old and their followers, and one of three parts.
  for (const timezone of ['Asia/Calcutta', 'Asia/Kolkata', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5', 'UTC'])
    expect((await change({ timezone })).body.timezone).toBe(timezone);
  expect((await change({ timezone: null })).body.timezone).toBeNull();
  const settings = (await client.get('/v1/organization-settings')).body.data[0];
  const wrongDays = {
    method: 'PATCH',
    url: `/v1/organization-settings/${settings.id}`,
    payload: { timezone: 'Mars/Olympus' },
  };
  expectProblem(await client.mutate(wrongDays), 'invalid_input');
  expectProblem(await change({ locale: 'fr' }, other), 'not_found');
  const read = await client.graphql('{ userSettings { edges { node { locale colorScheme } } } }');
  expect(read.data.userSettings.edges).toEqual([{ node: { locale: 'pt-BR', colorScheme: 'DARK' } }]);
});

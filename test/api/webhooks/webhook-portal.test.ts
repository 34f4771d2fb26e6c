import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { membership, user } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asSystem } from '../../kit/as-person.ts';
import { Browser } from '../../kit/http/browser.ts';
import { createdEndpoint, type TestEndpoint } from '../../kit/events/created-endpoint.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { WebhookSink } from '../../kit/fakes/webhook-sink.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let origin: string;
let sink: WebhookSink;
let owner: Person;
let client: TestClient;
let shown: TestEndpoint;
let hidden: TestEndpoint;

beforeAll(async () => {
  world = await openWorld({
    worker: true,
    environment: {
      CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true',
    },
  });
  origin = (await world.listen()).url;
  await world.reconfigure({ CORE_INTEGRATIONS_EMAIL_APIURL: origin });
  sink = await WebhookSink.open();
});
afterAll(async () => {
  await world.close();
  await sink.close();
});
beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  shown = await createdEndpoint(client, sink, { name: 'shown' });
  hidden = await createdEndpoint(client, sink, { name: 'hidden' });
});

const base = '/v1/webhook-portal/endpoints';

/** The token of a new link. */
async function linkOf(by: TestClient, body: object = {}): Promise<string> {
  const answer = await by.post('/v1/webhook-portal/links', body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  const [address, token = ''] = String(answer.body.url).split('#token=');
  expect(address).toBe(`${origin}/v1/webhook-portal`);
  return token;
}

/** Somebody without an account who has a link. */
function visitor(token: string) {
  const browser = world.client();
  const headers = { 'webhook-portal-token': token };
  return {
    get: (path = '') => browser.get(base + path, headers),
    post: (path: string, body?: object) => browser.post(base + path, body, headers),
  };
}

test('whoever has a link sees endpoints, messages and attempts, sends a test and sends again, without signing in', async () => {
  const by = visitor(await linkOf(client));
  const { body } = await by.get();
  expect(body.data).toEqual([
    { id: hidden.id, name: 'hidden', url: sink.url, topics: ['task.*'], status: 'enabled' },
    { id: shown.id, name: 'shown', url: sink.url, topics: ['task.*'], status: 'enabled' },
  ]);
  expect(JSON.stringify(body)).not.toContain('whsec_');
  const tested = await by.post(`/${shown.id}/test`);
  expect(tested.status, JSON.stringify(tested.body)).toBe(202);
  const eventId = tested.body.event_id;
  const attempts = async () => (await by.get(`/${shown.id}/attempts`)).body.data;
  await eventually(async () => (await attempts()).length === 1);
  expect((await by.get(`/${shown.id}/messages`)).body.data).toMatchObject([{ event_id: eventId, status: 'delivered' }]);
  expect((await by.post(`/${shown.id}/replay`, { event_ids: [eventId] })).body).toMatchObject({ replayed_count: 1 });
  await eventually(async () => (await attempts()).length === 2);
  expect(sink.received.filter(({ headers }) => headers['webhook-id'] === eventId)).toHaveLength(2);
});

test('a link to one endpoint shows no other, and no link shows those of other organizations', async () => {
  const other = await buildPerson(world);
  const theirs = await createdEndpoint(await signedIn(world, other), sink);
  const one = visitor(await linkOf(client, { endpoint_id: shown.id }));
  expect((await one.get()).body.data.map(({ id }: { id: string }) => id)).toEqual([shown.id]);
  const all = visitor(await linkOf(client));
  for (const [by, ids] of [
    [one, [hidden.id, theirs.id, newId()]],
    [all, [theirs.id, newId()]],
  ] as const)
    for (const id of ids) {
      for (const path of ['messages', 'attempts']) expectProblem(await by.get(`/${id}/${path}`), 'not_found', id);
      expectProblem(await by.post(`/${id}/test`), 'not_found', id);
      expectProblem(await by.post(`/${id}/replay`, { since: '2020-01-01T00:00:00Z' }), 'not_found', id);
    }
  for (const endpoint_id of [theirs.id, newId()])
    expectProblem(await client.post('/v1/webhook-portal/links', { endpoint_id }), 'not_found');
});

describe('a link', () => {
  test('is made by managers with a recent proof alone', async () => {
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    expectProblem(await (await signedIn(world, member)).post('/v1/webhook-portal/links', {}), 'permission_denied');
    expectProblem(await world.client().post('/v1/webhook-portal/links', {}), 'unauthenticated');
    world.clock.advance(11 * 60_000);
    expectProblem(await client.post('/v1/webhook-portal/links', {}), 'step_up_required');
  });

  test('counts for an hour', async () => {
    const by = visitor(await linkOf(client));
    world.clock.advance(59 * 60_000);
    expect((await by.get()).status).toBe(200);
    world.clock.advance(2 * 60_000);
    expectProblem(await by.get(), 'unauthenticated');
  });

  test('ends with the session, the role and the account of who made it', async () => {
    const make = async () => {
      const admin = await buildPerson(world, { organization: owner.organization, role: 'admin' });
      const by = await signedIn(world, admin);
      const link = visitor(await linkOf(by));
      expect((await link.get()).status).toBe(200);
      return { admin, by, link };
    };
    const signedOut = await make();
    await signedOut.by.post('/v1/logout');
    expectProblem(await signedOut.link.get(), 'unauthenticated');

    const demoted = await make();
    await asSystem(world, owner.organization.id, async (data) => {
      const held = await data.findOne(membership, { userId: { eq: demoted.admin.user.id } });
      await data.update(membership, held?.id ?? '', { role: 'member' });
    });
    expectProblem(await demoted.link.get(), 'permission_denied');
    expectProblem(await demoted.link.post(`/${shown.id}/test`), 'permission_denied');

    const deactivated = await make();
    await asSystem(world, owner.organization.id, (data) =>
      data.update(user, deactivated.admin.user.id, { status: 'deactivated' }),
    );
    expectProblem(await deactivated.link.get(), 'unauthenticated');
  });

  test('is no credential elsewhere, and nothing else is one here', async () => {
    const token = await linkOf(client);
    const bearer = world.client();
    bearer.bearer = token;
    for (const url of ['/v1/webhook-endpoints', '/v1/tasks', base])
      expectProblem(await bearer.get(url), 'unauthenticated');
    for (const url of ['/v1/webhook-endpoints', `/v1/webhook-endpoints/${shown.id}/messages`, '/v1/tasks'])
      expectProblem(await world.client().get(url, { 'webhook-portal-token': token }), 'unauthenticated');
    expectProblem(await world.client().get(`/v1/files/${newId()}/download?token=${token}`), 'not_found');
    // The page of a manager who is signed in has the rights of the link alone.
    expectProblem(await client.get(base), 'unauthenticated');
    for (const wrong of ['x', `${token}x`, token.slice(0, -1), token.replace('v1.', 'v2.'), ''])
      expectProblem(await client.get(base, { 'webhook-portal-token': wrong }), 'unauthenticated', wrong);
    const one = await linkOf(client, { endpoint_id: shown.id });
    const [version, key, , signature] = one.split('.');
    const all = [version, key, token.split('.')[2], signature].join('.');
    expectProblem(await visitor(all).get(), 'unauthenticated');
  });
});

test('the page works in a browser that knows nobody, with what this server sends alone', async (context) => {
  const started = await Browser.start();
  const browser = typeof started === 'string' ? context.skip(started) : started;
  try {
    sink.answer = () => ({ status: 500, body: '<img src=x onerror="document.title = 1">' });
    const page = await world.client().get('/v1/webhook-portal');
    // What the policy `default-src 'self'` allows: nothing inline, and nothing of other servers.
    expect(page.body).not.toMatch(/<script>|<style|style=|\bon\w+=|https?:/);
    const token = await linkOf(client, { endpoint_id: shown.id });
    await browser.open(`${origin}/v1/webhook-portal#token=${token}`);
    const text = (): Promise<string> => browser.evaluate('document.body.innerText');
    await eventually(async () => (await text()).includes('shown'));
    expect(await text()).not.toContain('hidden');
    const click = (label: string) =>
      browser.evaluate(
        `[...document.querySelectorAll('button')].find((one) => one.textContent === '${label}').click()`,
      );
    await click('Send a test message');
    await eventually(async () => (await text()).includes('A test message is sent.'));
    await eventually(async () => {
      await click('Refresh');
      return (await text()).includes('onerror');
    });
    expect(await browser.evaluate('document.images.length')).toBe(0);
    // On a telephone each message is a card, and no word is broken.
    await client.post('/v1/tasks', { title: 'is not accepted' });
    await eventually(async () => {
      await click('Refresh');
      return (await text()).includes('waiting, next attempt');
    });
    await browser.send('Emulation.setDeviceMetricsOverride', {
      width: 390,
      height: 900,
      deviceScaleFactor: 1,
      mobile: false,
    });
    expect(await browser.evaluate(`getComputedStyle(document.querySelector('td')).display`)).toBe('block');
    expect(await browser.evaluate(`document.querySelector('td').dataset.title`)).toBe('When');
    expect(
      await browser.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
    ).toBeLessThanOrEqual(0);
    await browser.send('Emulation.clearDeviceMetricsOverride');
    await click('Send again');
    await eventually(async () => (await text()).includes('The message is sent again.'));
    await browser.open(`${origin}/v1/webhook-portal`);
    await eventually(async () => (await text()).includes('This link does not work'));
  } finally {
    sink.answer = () => ({ status: 204 });
    await browser.close();
  }
});

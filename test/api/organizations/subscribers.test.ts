import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { mailsTo, tokenIn, unfolded, waitForMails } from '../../kit/mailbox.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { emailChangeToken, subscriberToken, unsubscribeToken } from '../../kit/identity/verification-token.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld({ worker: true });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

const day = 86_400_000;
const newEmail = () => `reader-${newId().toLowerCase()}@example.com`;

async function subscribed(email: string, by = client): Promise<string> {
  const answer = await by.post('/v1/subscribers', { email });
  expect(answer, JSON.stringify(answer.body)).toMatchObject({
    status: 201,
    body: { is_active: false, is_email_verified: false, is_unsubscribed: false, user_id: null },
  });
  return answer.body.id;
}

const verify = (token: string, by = world.client()) => by.post('/v1/subscribe/verify', { token });
const unsubscribe = (token: string) => world.client().post('/v1/unsubscribe', { token });
const read = async (id: string) => (await client.get(`/v1/subscribers/${id}`)).body;
const change = (id: string, payload: object, by = client) =>
  by.mutate({ method: 'PATCH', url: `/v1/subscribers/${id}`, payload });

describe('a subscriber', () => {
  test('is mailed a link, and active once it is used', async () => {
    const email = newEmail();
    const id = await subscribed(email.toUpperCase());
    const [mail = ''] = await waitForMails(world, email);
    const text = unfolded(mail);
    expect(text).toContain(owner.organization.name);
    expect(text).toContain('/v1/unsubscribe#token=');
    expect(text).not.toContain(owner.user.email);
    const sent = await eventually(async () => {
      const body = await read(id);
      return body.send_attempts === 1 && body;
    });
    expect(sent).toMatchObject({ email, is_active: false });
    expect(new Date(sent.expires_at).getTime() - new Date(sent.created_at).getTime()).toBe(7 * day);

    const token = tokenIn(mail);
    expect(token).toBe(await subscriberToken(world, email));
    expect((await verify(token)).status).toBe(200);
    expect(await read(id)).toMatchObject({ is_active: true, is_email_verified: true, is_phone_verified: false });
    expectProblem(await verify(token), 'invalid_token');
    expectProblem(await client.post(`/v1/subscribers/${id}/resend`), 'rule_violated');
  });

  test('keeps its tokens out of the database and of every answer', async () => {
    const email = newEmail();
    const id = await subscribed(email);
    const tokens = [await subscriberToken(world, email), await unsubscribeToken(world, email)];
    const signatures = tokens.map((token) => token.slice(token.indexOf('.') + 1));
    const stored = await asOwner(
      world,
      `select to_jsonb(s)::text as row from subscribers s where id = $1
       union all select to_jsonb(h)::text from history h where entity_id = $1
       union all select to_jsonb(e)::text from events e where entity_id = $1`,
      [id],
    );
    const everything = JSON.stringify([stored, (await client.get(`/v1/subscribers/${id}`)).body]);
    expect(stored.length).toBeGreaterThan(2);
    for (const signature of signatures) expect(everything).not.toContain(signature);
  });

  test('is one for each address of an organization, until it has unsubscribed', async () => {
    const email = newEmail();
    const id = await subscribed(email);
    expectProblem(await client.post('/v1/subscribers', { email: email.toUpperCase() }), 'already_exists');
    // Elsewhere it is another one.
    const elsewhere = await signedIn(world, await buildPerson(world));
    await subscribed(email, elsewhere);
    expect((await change(id, { is_unsubscribed: true })).body).toMatchObject({ is_unsubscribed: true });
    expectProblem(await change(id, { is_unsubscribed: false }), 'permission_denied');
    const next = await subscribed(email);
    expect(next).not.toBe(id);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => client.post('/v1/subscribers', { email: 'wanted-by-all@example.com' })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  });

  test.each([
    [{ email: 'nobody' }],
    [{ email: '' }],
    [{ phone_number: 'call me' }],
    [{ phone_number: '+0123456' }],
    [{ phone_number: `+${'1'.repeat(16)}` }],
    [{ is_active: true }],
    [{ is_email_verified: true }],
    [{ send_attempts: 0 }],
    [{ round: 2 }],
    [{ user_id: newId() }],
  ])('is refused with %j', async (wrong) => {
    expectProblem(await client.post('/v1/subscribers', { email: newEmail(), ...wrong }), 'invalid_input');
  });

  test('keeps its address', async () => {
    const id = await subscribed(newEmail());
    expectProblem(await change(id, { email: newEmail() }), 'invalid_input');
    expect((await change(id, { phone_number: '+4312345678', tags: ['news'] })).body).toMatchObject({
      phone_number: '+4312345678',
      tags: ['news'],
    });
  });

  test('is nobody the members of the organization see, but for its managers', async () => {
    const id = await subscribed(newEmail());
    const member = await signedIn(
      world,
      await buildPerson(world, { organization: owner.organization, role: 'member' }),
    );
    expectProblem(await member.get(`/v1/subscribers/${id}`), 'not_found');
    expectProblem(await member.post(`/v1/subscribers/${id}/resend`), 'not_found');
    expectProblem(await member.post('/v1/subscribers', { email: newEmail() }), 'permission_denied');
    const stranger = await signedIn(world, await buildPerson(world));
    expectProblem(await stranger.post(`/v1/subscribers/${id}/resend`), 'not_found');
  });

  test('comes in bulk and from CSV, all or none', async () => {
    const emails = [newEmail(), newEmail()];
    const csv = `email,phoneNumber,tags\n${emails.map((email) => `${email},+4312345678,news`).join('\n')}\n`;
    const mutation =
      'mutation ($csv: String!) { createBulkCSVSubscriber(csv: $csv) { subscribers { email phoneNumber isActive } } }';
    const { data } = await client.graphql(mutation, { csv });
    expect(data.createBulkCSVSubscriber.subscribers).toEqual(
      emails.map((email) => ({ email, phoneNumber: '+4312345678', isActive: false })),
    );
    expectGraphqlError(await client.graphql(mutation, { csv: `${csv}not-an-address,,\n` }), 'invalid_input');
    const bulk =
      'mutation ($inputs: [CreateSubscriberInput!]!) { createBulkSubscriber(inputs: $inputs) { subscribers { id } } }';
    const fresh = newEmail();
    expectGraphqlError(
      await client.graphql(bulk, { inputs: [{ email: fresh }, { email: emails[0] }] }),
      'already_exists',
    );
    await subscribed(fresh);
  });
});

describe('a verification', () => {
  test('succeeds once of fifty at the same time, in two processes', async () => {
    const email = newEmail();
    await subscribed(email);
    const token = await subscriberToken(world, email);
    const clients = [world.client(), (await world.openInstance()).client()];
    await Promise.all(clients.map((each) => each.get('/livez')));
    const attempts = Array.from({ length: 25 }, () => clients.map((each) => verify(token, each)));
    const answers = await Promise.all(attempts.flat());
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectProblem(answer, 'invalid_token');
  });

  test('is sent again until there were five; only the newest link works', async () => {
    const email = newEmail();
    const id = await subscribed(email);
    const first = await subscriberToken(world, email);
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.post(`/v1/subscribers/${id}/resend`)));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(4);
    for (const answer of answers.filter(({ status }) => status !== 202)) expectProblem(answer, 'limit_exceeded');
    expectGraphqlError(
      await client.graphql(
        'mutation ($id: ID!) { resendSubscriberVerification(id: $id) { subscriber { sendAttempts } } }',
        { id },
      ),
      'limit_exceeded',
    );
    await eventually(async () => (await mailsTo(world, email)).some((mail) => mail.includes('unsubscribe')));
    expect((await read(id)).send_attempts).toBeLessThanOrEqual(5);
    expectProblem(await verify(first), 'invalid_token');
    expect((await verify(await subscriberToken(world, email))).status).toBe(200);
  });

  test('with a link that has expired sends a new one, and not a sixth', async () => {
    const email = newEmail();
    const id = await subscribed(email);
    const expire = () => asOwner(world, `update subscribers set expires_at = '2000-01-01' where id = $1`, [id]);
    for (let sent = 1; sent < 5; sent++) {
      const token = await subscriberToken(world, email);
      await expire();
      expect((await verify(token)).status, String(sent)).toBe(202);
      expectProblem(await verify(token), 'invalid_token');
    }
    await expire();
    expectProblem(await verify(await subscriberToken(world, email)), 'limit_exceeded');
    expect(await read(id)).toMatchObject({ is_active: false, is_email_verified: false });
  });

  test('is void once the subscriber or its organization is deleted', async () => {
    const email = newEmail();
    const id = await subscribed(email);
    const token = await subscriberToken(world, email);
    await client.mutate({ method: 'DELETE', url: `/v1/subscribers/${id}` });
    expectProblem(await verify(token), 'invalid_token');

    const other = await buildPerson(world);
    const theirs = await signedIn(world, other);
    const another = newEmail();
    await subscribed(another, theirs);
    const kept = await subscriberToken(world, another);
    const gone = await theirs.mutate({ method: 'DELETE', url: `/v1/organizations/${other.organization.id}` });
    expect(gone.status).toBe(204);
    expectProblem(await verify(kept), 'invalid_token');
  });
});

describe('a subscription', () => {
  test('ends with the link of any e-mail, as often as it is used, and links to verify it end with it', async () => {
    const email = newEmail();
    const id = await subscribed(email);
    const token = await unsubscribeToken(world, email);
    const verification = await subscriberToken(world, email);
    await client.post(`/v1/subscribers/${id}/resend`);
    for (const time of [1, 2]) expect((await unsubscribe(token)).status, String(time)).toBe(200);
    expect(await read(id)).toMatchObject({ is_unsubscribed: true, is_active: false });
    for (const each of [verification, await subscriberToken(world, email)])
      expectProblem(await verify(each), 'invalid_token');
    expectProblem(await client.post(`/v1/subscribers/${id}/resend`), 'rule_violated');
    await client.mutate({ method: 'DELETE', url: `/v1/subscribers/${id}` });
    expect((await unsubscribe(token)).status).toBe(200);
    expectProblem(await unsubscribe(`${newId()}${token.slice(26)}`), 'invalid_token');
    expectProblem(await unsubscribe(verification), 'invalid_token');
  });

  test('ends in an archived organization, too', async () => {
    const other = await buildPerson(world);
    const theirs = await signedIn(world, other);
    const email = newEmail();
    await subscribed(email, theirs);
    const url = `/v1/organizations/${other.organization.id}`;
    await theirs.mutate({ method: 'PATCH', url, payload: { is_archived: true } });
    expectProblem(await verify(await subscriberToken(world, email)), 'organization_archived');
    expect((await unsubscribe(await unsubscribeToken(world, email))).status).toBe(200);
    expect(
      await asOwner(world, 'select is_unsubscribed, is_active from subscribers where email = $1', [email]),
    ).toEqual([{ is_unsubscribed: true, is_active: false }]);
  });

  test('opens a page that changes nothing', async () => {
    for (const url of ['/v1/subscribe/verify', '/v1/unsubscribe'])
      expect((await world.client().get(url)).headers['content-type']).toContain('text/html');
  });
});

describe('the link with a person', () => {
  const linked = (id: string, userId: string | null) => eventually(async () => (await read(id)).user_id === userId);

  test('is to the member who has confirmed the same address, who gets no right by it', async () => {
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const id = await subscribed(member.user.email);
    await linked(id, member.user.id);
    expectProblem(await (await signedIn(world, member)).get(`/v1/subscribers/${id}`), 'not_found');
  });

  test('tells nobody of accounts outside the organization, and is made when the person joins', async () => {
    const person = await buildPerson(world);
    const id = await subscribed(person.user.email);
    expect((await verify(await subscriberToken(world, person.user.email))).status).toBe(200);
    // A later one is linked, so the delivery of the earlier event has passed.
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    await linked(await subscribed(member.user.email), member.user.id);
    expect((await read(id)).user_id).toBeNull();

    await client.post('/v1/invites', { recipient: person.user.email });
    const token = await eventually(async () => {
      const mail = (await mailsTo(world, person.user.email)).find((each) => each.includes('/v1/invite#'));
      return mail && tokenIn(mail);
    });
    expect((await (await signedIn(world, person)).post('/v1/invite/accept', { token })).status).toBe(200);
    await linked(id, person.user.id);
  });

  test('ends when the person changes the address', async () => {
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const [changed, id] = [newEmail(), await subscribed(member.user.email)];
    await linked(id, member.user.id);
    const next = await subscribed(changed);
    const theirs = await signedIn(world, member);
    await theirs.post('/v1/account/email', { password: testPassword, new_email: changed });
    const confirmation = { token: await emailChangeToken(world, changed), password: testPassword };
    expect((await theirs.post('/v1/account/email/confirm', confirmation)).status).toBe(200);
    await linked(id, null);
    await linked(next, member.user.id);
  });
});

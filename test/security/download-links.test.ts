import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { membership, organization, user } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../kit/as-owner.ts';
import { asSystem } from '../kit/as-person.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { FakeIdentityProvider } from '../kit/fakes/fake-identity-provider.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { requestStatements } from '../kit/request-statements.ts';
import { createFile, type FileRecord } from '../kit/files/stored-upload.ts';
import { beginSupport, supportEnvironment } from '../kit/identity/support-access.ts';
import type { TestAnswer, TestClient } from '../kit/test-client.ts';
import { recordTried } from '../kit/tried.ts';
import { openWorld, type World } from '../kit/world.ts';
import { hostileFiles } from './hostile-files.ts';

let world: World;
let fake: FakeIdentityProvider;
let owner: Person;
let client: TestClient;
let record: FileRecord;
const texts: string[] = [];

beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'k'.repeat(40) },
    observers: [requestStatements(texts)],
  });
  fake = await FakeIdentityProvider.start(() => world.clock.now());
  await world.reconfigure(supportEnvironment(fake));
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  record = await createFile(world, owner, client);
});
afterAll(async () => {
  await fake.close();
  await world.close();
});

/** Path and query of a link that a caller asks for. */
async function linkOf(by: TestClient, { id }: FileRecord, args = ''): Promise<string> {
  const { data, body } = await by.graphql(`query ($id: ID!) { file(id: $id) { content { downloadUrl${args} } } }`, {
    id,
  });
  const url = data?.file?.content?.downloadUrl;
  if (typeof url !== 'string') throw new Error(`no link: ${JSON.stringify(body)}`);
  const { origin, pathname, search } = new URL(url);
  expect(origin).toBe('https://api.test');
  return pathname + search;
}

/** Somebody without credentials follows a link. */
const follow = (link: string, headers: Record<string, string> = {}) => world.client().get(link, headers);

/** What everybody gets who may not have a file. */
async function expectMissing(answer: TestAnswer, about = ''): Promise<void> {
  expectProblem(answer, 'not_found', about);
  const unknown = await client.get(`/v1/files/${newId()}/download`);
  expect(answer.body.detail, about).toBe(unknown.body.detail);
}

describe('a download', () => {
  test('with credentials', async () => {
    const answer = await client.get(`/v1/files/${record.objectId}/download`);
    expect([answer.status, answer.body]).toEqual([200, 'Some notes.']);
    expect(answer.headers['content-disposition']).toMatch(/^attachment; filename=notes\.txt/);
    expectProblem(await world.client().get(`/v1/files/${record.objectId}/download`), 'unauthenticated');
    const { body } = await client.get(`/v1/files/${record.id}`);
    expect(body.content.url).toBe(`https://api.test/v1/files/${record.objectId}/download`);
    await expectMissing(await client.get(`/v1/files/${record.id}/download`), 'the id of the record');
    await expectMissing(await client.get('/v1/files/x/download'));
  });

  test('with a link, in ranges and by HEAD, needs no credentials', async () => {
    const link = await linkOf(client, record);
    expect(await follow(link)).toMatchObject({ status: 200, body: 'Some notes.' });
    expect(await follow(link, { range: 'bytes=5-8' })).toMatchObject({ status: 206, body: 'note' });
    const head = await world.client().request({ method: 'HEAD', url: link });
    expect([head.status, head.headers['content-length'], head.body]).toEqual([200, '11', '']);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const)
      expectProblem(await client.mutate({ method, url: link }), 'method_not_allowed', method);
  });

  test('takes two round trips, one when the caller and the owner of the file are known, and none at all for what is no link', async () => {
    const link = await linkOf(client, record);
    const statementsOf = async (ask: () => Promise<TestAnswer>) => {
      texts.length = 0;
      const { headers } = await ask();
      const line = world.logs.find(({ msg, request_id: id }) => msg === 'request' && id === headers['x-request-id']);
      return { route: line?.['route'], texts: texts.length };
    };
    const route = '/v1/files/:id/download';
    expect(await statementsOf(() => follow(link))).toEqual({ route, texts: 2 });
    const path = `/v1/files/${record.objectId}/download`;
    const other = await signedIn(world, owner);
    for (const expected of [2, 1])
      expect(await statementsOf(() => other.get(path))).toEqual({ route, texts: expected });
    expect(await statementsOf(() => follow(`${link}x`))).toEqual({ route, texts: 0 });
  });

  test('by somebody else of the organization, and of none', async () => {
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const path = `/v1/files/${record.objectId}/download`;
    expect((await (await signedIn(world, member)).get(path)).status).toBe(200);
    await expectMissing(await (await signedIn(world, await buildPerson(world))).get(path));
  });

  test('of a file that was replaced or deleted is one of nothing', async () => {
    const gone = await createFile(world, owner, client);
    const link = await linkOf(client, gone);
    expect((await client.request({ method: 'HEAD', url: link })).status).toBe(200);
    await client.mutate({ method: 'DELETE', url: `/v1/files/${gone.id}` });
    await expectMissing(await follow(link));
    await expectMissing(await client.get(`/v1/files/${gone.objectId}/download`));
  });
});

describe('a link', () => {
  test('costs a list no statement', async () => {
    const count = async (selection: string) => {
      texts.length = 0;
      const { errors } = await client.graphql(`{ files { edges { node { id content { ${selection} } } } } }`);
      expect(errors).toBeUndefined();
      return texts.filter((text) => text !== 'commit').length;
    };
    expect([await count('id downloadUrl'), await count('id')]).toEqual([1, 1]);
  });

  test('expires', async () => {
    const link = await linkOf(client, record, '(expiresInSeconds: 60)');
    world.clock.advance(59_000);
    expect((await follow(link)).status).toBe(200);
    world.clock.advance(1_000);
    await expectMissing(await follow(link));
  });

  test.each(['0', '-1', '86401', '1.5', '"60"'])('does not live for %s seconds', async (seconds) => {
    const query = `{ file(id: "${record.id}") { content { downloadUrl(expiresInSeconds: ${seconds}) } } }`;
    const { errors } = await client.graphql(query);
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'invalid_input' });
  });

  test('that is good once is good once, and HEAD does not use it', async () => {
    const link = await linkOf(client, record, '(once: true)');
    const ask = (method: 'GET' | 'HEAD', headers: Record<string, string> = {}) =>
      world.client().request({ method, url: link, headers });
    const { status, headers } = await ask('HEAD');
    expect(status).toBe(200);
    // Nor do other answers without bytes.
    expect((await ask('GET', { 'if-none-match': String(headers['etag']) })).status).toBe(304);
    expect((await ask('GET', { range: 'bytes=1000000-' })).status).toBe(416);
    const answers = await Promise.all(Array.from({ length: 5 }, () => follow(link)));
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200, 404, 404, 404, 404,
    ]);
    await expectMissing(await follow(link));
  });

  test('shows harmless types in the browser if that was asked for', async () => {
    const png = await createFile(world, owner, client, {
      bytes: Buffer.from('\x89PNG'),
      name: 'a.png',
      contentType: 'image/png',
    });
    const dispositionOf = async (args: string) =>
      String((await follow(await linkOf(client, png, args))).headers['content-disposition']).split(';')[0];
    expect(await dispositionOf('')).toBe('attachment');
    expect(await dispositionOf('(disposition: INLINE)')).toBe('inline');
  });

  test('replaces the credentials that are sent with it', async () => {
    const stranger = await signedIn(world, await buildPerson(world));
    expect((await stranger.get(await linkOf(client, record))).status).toBe(200);
    const { pathname } = new URL(await linkOf(client, record), 'https://api.test');
    await expectMissing(await client.get(`${pathname}?token=x`));
  });

  test('takes no further parameters', async () => {
    const link = await linkOf(client, record);
    for (const more of ['disposition=inline', 'token=x', 'x=', 'Token=x'])
      expectProblem(await follow(`${link}&${more}`), 'invalid_input', more);
  });

  test('stands in no log line', async () => {
    const link = await linkOf(client, record);
    await follow(link);
    await follow(`${link}&x=1`);
    await follow(link.replace('/v1/files/', '/v1/filez/'));
    await world.client().post(link);
    const signature = link.slice(-43);
    expect(world.logs.filter((line) => JSON.stringify(line).includes(signature))).toEqual([]);
  });
});

describe('T-112: a link whose maker has lost the right', () => {
  /** Somebody who makes a link, and how they lose what it rests on. */
  interface Case {
    readonly maker: TestClient;
    readonly lose: () => Promise<unknown>;
  }
  const member = async () => {
    const person = await buildPerson(world, { organization: owner.organization, role: 'member' });
    return { person, maker: await signedIn(world, person) };
  };
  const bearer = (token: string): TestClient => {
    const by = world.client();
    by.bearer = token;
    return by;
  };
  const membershipOf = async ({ user: { id } }: Person, organizationId: string) =>
    asSystem(world, organizationId, (data) =>
      data.findOne(membership, { userId: { eq: id }, organizationId: { eq: organizationId } }),
    );
  const remove = (path: string) => () => client.mutate({ method: 'DELETE', url: path });
  const personalToken = async (by: TestClient, scopes = ['file:read']) => {
    const { status, body } = await by.post('/v1/personal-access-tokens', { name: 'a program', scopes });
    expect(status, JSON.stringify(body)).toBe(201);
    return body as { readonly id: string; readonly token: string };
  };
  const apiToken = async () => {
    const { status, body } = await client.post('/v1/api-tokens', { name: 'a program', scopes: ['file:read'] });
    expect(status, JSON.stringify(body)).toBe(201);
    return body as { readonly id: string; readonly token: string };
  };

  const cases: Readonly<Record<string, () => Promise<Case>>> = {
    'signed out': async () => {
      const { maker } = await member();
      return { maker, lose: () => maker.post('/v1/logout') };
    },
    'no longer a member': async () => {
      const { maker, person } = await member();
      const held = await membershipOf(person, owner.organization.id);
      return { maker, lose: remove(`/v1/memberships/${held?.id}`) };
    },
    deactivated: async () => {
      const { maker, person } = await member();
      return {
        maker,
        lose: () =>
          asSystem(world, owner.organization.id, (data) =>
            data.update(user, person.user.id, { status: 'deactivated' }),
          ),
      };
    },
    'a personal token that was revoked': async () => {
      const { maker: by } = await member();
      const { id, token } = await personalToken(by);
      return {
        maker: bearer(token),
        lose: () => by.mutate({ method: 'DELETE', url: `/v1/personal-access-tokens/${id}` }),
      };
    },
    'a personal token of somebody who is no longer a member': async () => {
      const { maker: by, person } = await member();
      const { token } = await personalToken(by);
      const held = await membershipOf(person, owner.organization.id);
      return { maker: bearer(token), lose: remove(`/v1/memberships/${held?.id}`) };
    },
    'an API token that was revoked': async () => {
      const { id, token } = await apiToken();
      return { maker: bearer(token), lose: remove(`/v1/api-tokens/${id}`) };
    },
    'an API token with another secret': async () => {
      const { id, token } = await apiToken();
      return { maker: bearer(token), lose: () => client.post(`/v1/api-tokens/${id}/rotate`) };
    },
    'an API token whose key was revoked': async () => {
      const { token } = await apiToken();
      const keys = { CORE_API_TOKEN_KEY_FIRST: `revoked:${'k'.repeat(40)}`, CORE_API_TOKEN_KEY_SECOND: 'l'.repeat(40) };
      return { maker: bearer(token), lose: () => world.reconfigure(keys) };
    },
    'impersonation that has ended': async () => {
      const { person } = await member();
      const { body } = await client.post('/v1/impersonation', {
        user_id: person.user.id,
        reason: 'a report looks wrong',
      });
      return { maker: bearer(body.access_token), lose: () => client.post(`/v1/delegations/${body.delegation_id}/end`) };
    },
    'support whose consent was withdrawn': async () => {
      const expiresAt = new Date(world.clock.now().getTime() + 86_400_000).toISOString();
      const { body } = await client.post('/v1/support-consents', { expires_at: expiresAt });
      const token = await beginSupport(world, fake, owner.organization.id);
      return { maker: bearer(token), lose: remove(`/v1/support-consents/${body.id}`) };
    },
  };

  test.each(Object.keys(cases))('T-112: %s', async (name) => {
    const { maker, lose } = await (cases[name] as () => Promise<Case>)();
    const link = await linkOf(maker, record);
    expect((await follow(link)).status, 'before').toBe(200);
    await lose();
    await expectMissing(await follow(link), 'without credentials');
    await expectMissing(await maker.get(link), 'with those of before');
    // Others still have theirs.
    expect((await follow(await linkOf(client, record))).status).toBe(200);
  });

  test('T-112: blocked from the record', async () => {
    const { maker, person } = await member();
    const link = await linkOf(maker, record);
    const group = (await client.post('/v1/groups', { name: `blocked ${newId()}` })).body.id;
    await client.post('/v1/group-memberships', { group_id: group, user_id: person.user.id });
    expect((await follow(link)).status).toBe(200);
    const share = await client.post('/v1/file-shares', { file_id: record.id, group_id: group, relation: 'blocked' });
    expect(share.status, JSON.stringify(share.body)).toBe(201);
    await expectMissing(await follow(link));
    await client.mutate({ method: 'DELETE', url: `/v1/file-shares/${share.body.id}` });
    expect((await follow(link)).status).toBe(200);
  });

  test('T-112: the organization is deleted', async () => {
    const person = await buildPerson(world);
    const by = await signedIn(world, person);
    const link = await linkOf(by, await createFile(world, person, by));
    expect((await follow(link)).status).toBe(200);
    await asSystem(world, person.organization.id, (data) => data.remove(organization, person.organization.id));
    await expectMissing(await follow(link));
  });
});

test('T-110: hostile files are offered for download, and run nowhere', async () => {
  const stored = await createFile(world, owner, client);
  const url = await linkOf(client, stored, '(disposition: INLINE)');
  for (const [name, contentType] of hostileFiles) {
    const about = JSON.stringify([name, contentType]);
    // What an upload would refuse, too: whatever is stored is served so.
    const values = [stored.objectId, name, contentType];
    await asOwner(world, 'update stored_objects set name = $2, content_type = $3 where id = $1', values);
    const { status, headers } = await world.client().request({ method: 'HEAD', url });
    expect(status, about).toBe(200);
    expect(headers, about).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-type': expect.stringMatching(/^[\w.+-]+\/[\w.+-]+$/),
      'content-disposition': expect.stringMatching(
        /^attachment; filename=(?:"[ !#$&-.0-[\]-~]*"|[\w!#$&'*+.^`|~-]+)(?:; filename\*=UTF-8''[\w%.~!#$&+^`|-]*)?$/,
      ),
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, no-store',
    });
  }
  await asOwner(world, `update stored_objects set name = 'notes.txt', content_type = 'text/plain' where id = $1`, [
    stored.objectId,
  ]);
  recordTried('hostile files', hostileFiles.length);
});

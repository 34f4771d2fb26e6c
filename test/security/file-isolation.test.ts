import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SignedLinks } from '#api/auth/signed-links.ts';
import { membership } from '#entities/index.ts';
import { callerOf, type Caller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { uploadOwnerOf } from '#entities/kit/objects/upload-owner.ts';
import { UploadRows } from '#entities/kit/objects/upload-rows.ts';
import { asOwner } from '../kit/as-owner.ts';
import { asSystem } from '../kit/as-person.ts';
import { sampleOf } from '../kit/depth.ts';
import { eventually } from '../kit/eventually.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { FakeIdentityProvider } from '../kit/fakes/fake-identity-provider.ts';
import { formOf } from '../kit/files/multipart-form.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { createFile, storedUpload } from '../kit/files/stored-upload.ts';
import { beginSupport, supportEnvironment } from '../kit/identity/support-access.ts';
import type { TestAnswer, TestClient } from '../kit/test-client.ts';
import { recordTried } from '../kit/tried.ts';
import { newUpload, readyUpload } from '../kit/files/uploaded-file.ts';
import { openWorld, type World } from '../kit/world.ts';

/**
 * T-50 for bytes: with every sort of credential, what belongs to another organization, or to somebody else, is answered as what does
 * not exist. Attempts are made of lists: who asks, what for, and how.
 */
let world: World;
let fake: FakeIdentityProvider;
let victim: Person;
let owner: Person;
let victimClient: TestClient;
/** A record of the kind `file` and a task of the attackers' organization. */
let own: { readonly file: string; readonly object: string; readonly task: string };
/** Objects of the victim. */
let targets: Readonly<Record<string, string>>;
/** Records of the victim. */
let records: { readonly file: string; readonly task: string };
const attackers = new Map<string, Attacker>();

/** Somebody with credentials that reach nothing of the victim. */
interface Attacker {
  readonly client: TestClient;
  /** As uploads name them; undefined for who cannot upload. */
  readonly caller: Caller | undefined;
}

const names = [
  'session of an owner',
  'session of a member',
  'session of an auditor',
  'session of somebody who has left',
  'session of a colleague who acts elsewhere',
  'API token',
  'personal token',
  'impersonation',
  'support access',
  'nobody',
] as const;

const scopes = ['file:write', 'task_file:write', 'task:write'];

beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'k'.repeat(40) },
  });
  fake = await FakeIdentityProvider.start(() => world.clock.now());
  await world.reconfigure(supportEnvironment(fake));
  victim = await buildPerson(world);
  owner = await buildPerson(world);
  victimClient = await signedIn(world, victim);
  await makeTargets();
  await makeAttackers();
});
afterAll(async () => {
  await fake.close();
  await world.close();
});

async function makeTargets(): Promise<void> {
  const { id: fileId, objectId } = await createFile(world, victim, victimClient);
  const task = await created(victimClient, '/v1/tasks', { title: 'secret' });
  const attached = await created(victimClient, '/v1/task-files', {
    task_id: task.id,
    content: await storedUpload(world, victim),
  });
  const image = { bytes: Buffer.from('\x89PNG'), name: 'a.png', contentType: 'image/png' };
  const user = await victimClient.mutate({
    method: 'PATCH',
    url: `/v1/users/${victim.user.id}`,
    payload: { avatar: await storedUpload(world, victim, image) },
  });
  const deleted = await createFile(world, victim, victimClient);
  await victimClient.mutate({ method: 'DELETE', url: `/v1/files/${deleted.id}` });
  const upload = await storedUpload(world, victim);
  const [row] = await asOwner<{ object: string }>(world, 'select object_id as object from uploads where id = $1', [
    upload,
  ]);
  targets = {
    file: objectId,
    'task file': attached.content.id,
    avatar: user.body.avatar.id,
    'file that was deleted': deleted.objectId,
    'upload that no record has': row?.object ?? '',
  };
  records = { file: fileId, task: task.id };
}

async function makeAttackers(): Promise<void> {
  const { organization } = owner;
  const byOwner = await signedIn(world, owner);
  const ofOwner = actingIn(owner, organization.id);
  attackers.set('session of an owner', { client: byOwner, caller: ofOwner });
  const member = await buildPerson(world, { organization, role: 'member' });
  for (const person of [member, await buildPerson(world, { organization, role: 'auditor' })]) {
    const name = person === member ? 'session of a member' : 'session of an auditor';
    attackers.set(name, { client: await signedIn(world, person), caller: actingIn(person, organization.id) });
  }
  const leaver = await buildPerson(world, { organization: victim.organization, role: 'admin' });
  const byLeaver = await signedIn(world, leaver);
  await asSystem(world, victim.organization.id, async (data) => {
    const held = await data.findOne(membership, { userId: { eq: leaver.user.id } });
    await data.remove(membership, held?.id ?? '');
  });
  attackers.set('session of somebody who has left', { client: byLeaver, caller: undefined });
  const both = await buildPerson(world, { organization, role: 'member' });
  await asSystem(world, victim.organization.id, (data) =>
    data.create(membership, { organizationId: victim.organization.id, userId: both.user.id, role: 'admin' }),
  );
  const elsewhere = await signedIn(world, both);
  await elsewhere.post('/v1/switch', { target_organization_id: organization.id });
  attackers.set('session of a colleague who acts elsewhere', {
    client: elsewhere,
    caller: actingIn(both, organization.id),
  });
  const apiToken = await created(byOwner, '/v1/api-tokens', { name: 'a program', scopes });
  const program = callerOf({ kind: 'api_token', subjectId: apiToken.id, organizationId: organization.id });
  attackers.set('API token', { client: bearer(apiToken.token), caller: program });
  const personal = await created(byOwner, '/v1/personal-access-tokens', { name: 'a program', scopes });
  attackers.set('personal token', { client: bearer(personal.token), caller: ofOwner });
  const impersonation = await created(byOwner, '/v1/impersonation', {
    user_id: member.user.id,
    reason: 'a report looks wrong',
  });
  attackers.set('impersonation', { client: bearer(impersonation.access_token), caller: undefined });
  const expiresAt = new Date(world.clock.now().getTime() + 86_400_000).toISOString();
  await created(byOwner, '/v1/support-consents', { expires_at: expiresAt });
  const support = await beginSupport(world, fake, organization.id);
  attackers.set('support access', { client: bearer(support), caller: undefined });
  attackers.set('nobody', { client: world.client(), caller: undefined });
  const { id, objectId } = await createFile(world, owner, byOwner);
  own = { file: id, object: objectId, task: (await created(byOwner, '/v1/tasks', { title: 'one' })).id };
}

function actingIn({ user }: Person, organizationId: string): Caller {
  return callerOf({ kind: 'user', subjectId: user.id, organizationId });
}

function bearer(token: string): TestClient {
  const client = world.client();
  client.bearer = token;
  return client;
}

async function created(client: TestClient, url: string, payload: object): Promise<TestAnswer['body']> {
  const { status, body } = await client.post(url, payload);
  if (status !== 201) throw new Error(`${url}: ${JSON.stringify(body)}`);
  return body;
}

/** What an answer tells, without what differs between any two answers and without the id that was asked for. */
function told({ status, headers, body }: TestAnswer, id: string): string {
  const {
    'x-request-id': requestId,
    date: _date,
    'set-cookie': _cookie,
    traceparent: _trace,
    'content-length': _length,
    ...others
  } = headers;
  const text = JSON.stringify({ status, others, body });
  return text.replaceAll(String(requestId), 'REQUEST').replaceAll(id, 'ID');
}

/** Whether an answer says more about something of others than about what does not exist. */
async function leak(about: string, id: string, ask: (id: string) => Promise<TestAnswer>): Promise<string[]> {
  const missing = newId();
  const [ofTheirs, ofMissing] = [await ask(id), await ask(missing)];
  const [theirs, unknown] = [told(ofTheirs, id), told(ofMissing, missing)];
  if (theirs !== unknown) return [`${about} tells ${theirs}, and of nothing ${unknown}`];
  // GraphQL answers errors with 200.
  const hasSucceeded = ofTheirs.status < 400 && !ofTheirs.body.errors;
  return hasSucceeded ? [`${about} succeeds: ${theirs}`] : [];
}

const attackerOf = (name: string) => attackers.get(name) as Attacker;

/** Ways to ask for bytes. The entity tag is the one that the target has. */
const ways = {
  GET: {},
  HEAD: {},
  'GET of a range': { range: 'bytes=0-3' },
  'GET of the last bytes': { range: 'bytes=-2' },
  'GET of a range after the end': { range: 'bytes=1000000-' },
  'GET with If-None-Match': { 'if-none-match': 'ETAG' },
  'GET with If-Range': { 'if-range': 'ETAG', range: 'bytes=0-3' },
} as const;

const targetNames = ['file', 'task file', 'avatar', 'file that was deleted', 'upload that no record has'];

describe('T-50: bytes of another organization', () => {
  const attempts = names.flatMap((name) =>
    targetNames.flatMap((target) => Object.keys(ways).map((way) => ({ name, target, way }))),
  );

  test('are downloaded with no credentials but their own', async () => {
    const tried = sampleOf('downloads of others', attempts, {
      by: [({ name, target }) => `${name} ${target}`, ({ name, way }) => `${name} ${way}`],
    });
    const { headers } = await victimClient.get(`/v1/files/${targets['file']}/download`);
    const tag = String(headers['etag']);
    const leaks: string[] = [];
    for (const { name, target, way } of tried) {
      const { client } = attackerOf(name);
      const given = Object.entries(ways[way as keyof typeof ways]).map(([key, value]) => [
        key,
        value.replace('ETAG', tag),
      ]);
      const ask = (id: string) =>
        client.request({
          method: way === 'HEAD' ? 'HEAD' : 'GET',
          url: `/v1/files/${id}/download`,
          headers: Object.fromEntries(given) as Record<string, string>,
        });
      leaks.push(...(await leak(`${name}: ${way} of the ${target}`, targets[target] ?? '', ask)));
    }
    recordTried('downloads of others', tried.length, attempts.length);
    expect(leaks).toEqual([]);
    for (const target of ['file', 'task file', 'avatar'])
      expect((await victimClient.get(`/v1/files/${targets[target]}/download`)).status, target).toBe(200);
  });

  test('are not sent for records of others in a form with files', async () => {
    const content = { field: '0', name: 'notes.txt', type: 'text/plain', content: 'Some notes.' };
    const operations = {
      'a file that is replaced': [
        'mutation ($id: ID!, $file: Upload) { updateFile(id: $id, input: { content: $file }) { file { id } } }',
        () => records.file,
      ],
      'a file of a task': [
        'mutation ($id: ID!, $file: Upload!) { createTaskFile(input: { taskId: $id, content: $file }) { createdId } }',
        () => records.task,
      ],
      'files of a task': [
        'mutation ($id: ID!, $file: Upload!) { createBulkTaskFile(inputs: [{ taskId: $id, content: $file }]) { taskFiles { id } } }',
        () => records.task,
      ],
    } as const;
    const all = names.flatMap((name) => Object.keys(operations).map((operation) => ({ name, operation })));
    const leaks: string[] = [];
    const tried = sampleOf('forms with records of others', all, {
      by: [({ name }) => name, ({ operation }) => operation],
    });
    for (const { name, operation } of tried) {
      const [query, target] = operations[operation as keyof typeof operations];
      const ask = (id: string) => {
        const { payload, type } = formOf([
          { field: 'operations', content: JSON.stringify({ query, variables: { id, file: null } }) },
          { field: 'map', content: JSON.stringify({ 0: ['variables.file'] }) },
          content,
        ]);
        const headers = { 'content-type': type };
        return attackerOf(name).client.mutate({ method: 'POST', url: '/graphql', payload, headers });
      };
      leaks.push(...(await leak(`${name}: ${operation}`, target(), ask)));
    }
    recordTried('forms with records of others', tried.length, all.length);
    expect(leaks).toEqual([]);
    // Nothing has taken the files; they are given up with the operation.
    await eventually(async () => {
      const left = await asOwner(
        world,
        `select u.id from uploads u join stored_objects o on o.id = u.object_id
         where u.state <> 'refused' and u.route = 'multipart' and o.name = 'notes.txt' and u.actor <> $1 and u.actor <> $2`,
        [`user:${victim.user.id}`, `user:${owner.user.id}`],
      );
      return left.length === 0;
    });
    const [held] = await asOwner(world, 'select count(*)::int as count from task_files where task_id = $1', [
      records.task,
    ]);
    expect(held).toEqual({ count: 1 });
  });
});

/** Content of a link: the object, its organization, who asked for it, disposition, expiry, nonce, whether it is good once. */
type LinkContent = [string, string | null, unknown, string, number, string, boolean];

interface ParsedLink {
  readonly path: string;
  readonly token: string;
  readonly parts: readonly [version: string, key: string, content: string, signature: string];
  readonly content: LinkContent;
}

/** A link that a caller gets to a file it may view. */
async function linkOf(client: TestClient, fileId: string): Promise<ParsedLink> {
  const { data, body } = await client.graphql('query ($id: ID!) { file(id: $id) { content { downloadUrl } } }', {
    id: fileId,
  });
  const url = data?.file?.content?.downloadUrl;
  if (typeof url !== 'string') throw new Error(`no link: ${JSON.stringify(body)}`);
  const { pathname, searchParams } = new URL(url);
  const token = searchParams.get('token') ?? '';
  const parts = token.split('.') as unknown as ParsedLink['parts'];
  return { path: pathname, token, parts, content: JSON.parse(Buffer.from(parts[2], 'base64url').toString()) };
}

describe('T-50: links to bytes of another organization', () => {
  const follow = (object: string, token: string, client = world.client()) =>
    client.get(`/v1/files/${object}/download?token=${token}`);
  const encoded = (content: readonly unknown[]) => Buffer.from(JSON.stringify(content)).toString('base64url');
  const changed = (text: string) => (text.endsWith('A') ? `${text.slice(0, -1)}B` : `${text.slice(0, -1)}A`);

  test('count for nothing with any part altered', async () => {
    const theirs = await linkOf(victimClient, records.file);
    const mine = await linkOf(attackerOf('session of an owner').client, own.file);
    const [version, key, , signature] = theirs.parts;
    const [hex = '', day = ''] = key.split('-');
    const altered: [string, string, string][] = [];
    const add = (about: string, token: readonly string[], object = targets['file'] ?? '') =>
      altered.push([about, token.join('.'), object]);
    const [, , text] = theirs.parts;
    add('another version', ['v2', key, text, signature]);
    add('another key', [version, `${changed(hex)}-${day}`, text, signature]);
    for (const step of [-1, 1, 2]) add(`a day ${step}`, [version, `${hex}-${Number(day) + step}`, text, signature]);
    add('another signature', [version, key, text, changed(`${signature.slice(0, -1)}A`)]);
    add('no signature', [version, key, text, '']);
    add('the signature of another link', [version, key, text, mine.parts[3]]);
    add('the content of another link', [version, key, mine.parts[2], signature]);
    const values: readonly (readonly [string, number, unknown])[] = [
      ['another object', 0, targets['task file']],
      ['another organization', 1, owner.organization.id],
      ['no organization', 1, null],
      ['another principal', 2, mine.content[2]],
      ['another disposition', 3, 'inline'],
      ['a later end', 4, theirs.content[4] + 1],
      ['another nonce', 5, changed(theirs.content[5])],
      ['another use', 6, true],
      ['more', 7, 'more'],
    ];
    for (const [about, index, value] of values) {
      const content = [...theirs.content] as unknown[];
      content[index] = value;
      add(about, [version, key, encoded(content), signature], String(content[0]));
      // The same in a link of the attacker.
      const own = [...mine.content] as unknown[];
      own[index] = theirs.content[index] ?? 'more';
      if (own[index] !== mine.content[index])
        add(`${about} in a link of one's own`, [version, mine.parts[1], encoded(own), mine.parts[3]]);
    }
    for (const [target, object] of Object.entries(targets)) {
      add(`one's own link for the ${target}`, mine.parts, object);
      if (target !== 'file') add(`the link of the file for the ${target}`, theirs.parts, object);
    }
    add('spaces in the content', [version, key, encoded(theirs.content).replace(/$/, '='), signature]);
    const leaks: string[] = [];
    const by = [undefined, ...names.map((name) => attackerOf(name).client)];
    const attempts = altered.flatMap((one) => by.map((client) => ({ one, client })));
    const tried = sampleOf('altered links', attempts, {
      by: [({ one: [about] }) => about, ({ client }) => String(by.indexOf(client))],
    });
    for (const { one, client } of tried) {
      const [about, token, object] = one;
      const ask = (id: string) => follow(id, token, client);
      leaks.push(...(await leak(about, object, ask)));
    }
    recordTried('altered links', tried.length, attempts.length);
    expect(leaks).toEqual([]);
    expect((await follow(targets['file'] ?? '', theirs.token)).status).toBe(200);
  });

  test('give nothing beyond the right of whoever they name, even when this server has signed them', async () => {
    const signed = new SignedLinks(() => world.config.current.sessions, world.clock);
    const theirs = await linkOf(victimClient, records.file);
    const principals = new Map<string, unknown>();
    for (const name of names) {
      // They view no file at all.
      if (['session of an auditor', 'session of somebody who has left', 'nobody'].includes(name)) continue;
      principals.set(name, (await linkOf(attackerOf(name).client, own.file)).content[2]);
    }
    principals.set('a session that does not exist', ['session', victim.user.id, newId()]);
    principals.set('a person without session', ['session', newId(), newId()]);
    const organizations = { own: owner.organization.id, theirs: victim.organization.id, none: null };
    const attempts = [...principals].flatMap(([name, principal]) =>
      Object.entries(organizations).flatMap(([where, organization]) =>
        Object.entries(targets)
          // Whoever is a colleague there may view it there.
          .filter(() => !(name.includes('colleague') && where === 'theirs'))
          .map(([target, object]) => ({ name, where, target, principal, organization, object })),
      ),
    );
    for (const [target, object] of Object.entries(targets))
      for (const [where, organization] of Object.entries(organizations))
        if (where !== 'theirs' && target !== 'avatar')
          attempts.push({ name: 'the victim', where, target, principal: theirs.content[2], organization, object });
    const [, , , disposition, expiry, nonce, once] = theirs.content;
    const tried = sampleOf('links for others', attempts, {
      by: [({ name, where }) => `${name} ${where}`, ({ name, target }) => `${name} ${target}`],
    });
    const leaks: string[] = [];
    for (const { name, where, target, principal, organization, object } of tried) {
      const token = (id: string) =>
        signed.issue('download', [id, organization, principal, disposition, expiry, nonce, once]);
      const about = `a link of ${name} for ${where} organization to the ${target}`;
      leaks.push(...(await leak(about, object, (id) => follow(id, token(id)))));
    }
    const forUploads = signed.issue('upload', theirs.content);
    expectProblem(await follow(targets['file'] ?? '', forUploads), 'not_found', 'signed for another purpose');
    recordTried('links for others', tried.length, attempts.length);
    expect(leaks).toEqual([]);
    const control = signed.issue('download', theirs.content);
    expect((await follow(targets['file'] ?? '', control)).status).toBe(200);
  });
});

describe('T-50: uploads of others', () => {
  const tus = { 'tus-resumable': '1.0.0' };
  /** Every place that takes the id of an upload, and the route of the uploads that it is about. */
  const doors: Readonly<Record<string, (client: TestClient, id: string, self: string) => Promise<TestAnswer>>> = {
    'POST /v1/files': (client, content) => client.post('/v1/files', { content }),
    'POST /v1/task-files': (client, content) => client.post('/v1/task-files', { task_id: own.task, content }),
    'PATCH /v1/files': (client, content) =>
      client.mutate({ method: 'PATCH', url: `/v1/files/${own.file}`, payload: { content } }),
    'PATCH /v1/users': (client, avatar, self) =>
      client.mutate({ method: 'PATCH', url: `/v1/users/${self}`, payload: { avatar } }),
    createFile: (client, id) =>
      client.graphql('mutation ($id: Upload!) { createFile(input: { content: $id }) { createdId } }', { id }),
    createBulkFile: (client, id) =>
      client.graphql('mutation ($id: Upload!) { createBulkFile(inputs: [{ content: $id }]) { files { id } } }', { id }),
    createBulkCSVFile: (client, id) =>
      client.graphql('mutation ($csv: String!) { createBulkCSVFile(csv: $csv) { files { id } } }', {
        csv: `content\n${id}\n`,
      }),
    updateFile: (client, id) =>
      client.graphql(
        `mutation ($id: Upload!) { updateFile(id: "${own.file}", input: { content: $id }) { file { id } } }`,
        { id },
      ),
    'updateBulkFile, which takes none': (client, id) =>
      client.graphql(
        `mutation ($id: Upload!) { updateBulkFile(ids: ["${own.file}"], input: { content: $id }) { updatedCount } }`,
        { id },
      ),
    'createTask with a file': (client, id) =>
      client.graphql(
        'mutation ($id: Upload!) { createTask(input: { title: "x", createFiles: [{ content: $id }] }) { createdId } }',
        { id },
      ),
    createTaskFile: (client, id) =>
      client.graphql(
        `mutation ($id: Upload!) { createTaskFile(input: { taskId: "${own.task}", content: $id }) { createdId } }`,
        { id },
      ),
    updateUser: (client, id, self) =>
      client.graphql(`mutation ($id: Upload!) { updateUser(id: "${self}", input: { avatar: $id }) { user { id } } }`, {
        id,
      }),
    'GET of the upload': (client, id) => client.get(`/v1/uploads/${id}`),
    'HEAD of the upload': (client, id) => client.request({ method: 'HEAD', url: `/v1/uploads/${id}`, headers: tus }),
    'PATCH of the upload': (client, id) =>
      client.mutate({
        method: 'PATCH',
        url: `/v1/uploads/${id}`,
        payload: Buffer.from('x'),
        headers: { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
      }),
    'DELETE of the upload': (client, id) => client.mutate({ method: 'DELETE', url: `/v1/uploads/${id}`, headers: tus }),
    'completion of the upload': (client, id) => client.post(`/v1/uploads/${id}/complete`),
    'content of the upload': async (client, id) => {
      // With a token for an upload of the caller itself.
      const begun = await client.post('/v1/uploads/direct', { name: 'a.txt', size_bytes: 1 });
      const token = begun.status === 201 ? (new URL(begun.body.url).searchParams.get('token') ?? '') : 'none';
      const url = `/v1/uploads/${id}/content?token=${token}`;
      const headers = { 'content-type': 'application/octet-stream' };
      return client.mutate({ method: 'PUT', url, payload: Buffer.from('x'), headers });
    },
  };

  const isOfUploads = (door: string) => door.endsWith(' upload');

  /** Uploads of others as each attacker meets them. */
  async function uploadsFor({ caller }: Attacker): Promise<Map<string, string>> {
    const { database } = world.runtime;
    const rows = new UploadRows(database);
    const now = world.clock.now();
    const found = new Map<string, string>();
    const colleague = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const others: [string, Caller][] = [
      ['of another organization', actingIn(victim, victim.organization.id)],
      ['of a colleague', actingIn(colleague, owner.organization.id)],
    ];
    if (caller)
      others.push(['of the caller in another organization', { ...caller, organizationId: victim.organization.id }]);
    if (caller) others.push(['of the caller in no organization', { ...caller, organizationId: null }]);
    for (const [about, of] of others) {
      found.set(`ready, ${about}`, await readyUpload(database, of, { at: now }));
      for (const route of ['direct', 'resumable'] as const) {
        const upload = newUpload(of, { at: now, route, declared: { name: 'a.txt', sizeBytes: 1 } });
        found.set(`${route}, ${about}`, (await rows.begin(upload)).uploadId);
      }
      const arrived = newUpload(of, { at: now, route: 'direct', declared: { name: 'a.txt', sizeBytes: 1 } });
      const { uploadId } = await rows.begin(arrived);
      await rows.arrive(uploadId, uploadOwnerOf(of), now);
      found.set(`arrived, ${about}`, uploadId);
    }
    if (!caller) return found;
    const at = new Date(now.getTime() - 7_200_000);
    found.set('expired', await readyUpload(database, caller, { at }));
    for (const route of ['direct', 'resumable'] as const) {
      const upload = newUpload(caller, { at, route, declared: { name: 'a.txt', sizeBytes: 1 } });
      found.set(`${route}, expired`, (await rows.begin(upload)).uploadId);
    }
    const used = await readyUpload(database, caller, { at: now });
    await asOwner(world, `update uploads set state = 'used' where id = $1`, [used]);
    await asOwner(
      world,
      `update stored_objects set state = 'removing', released_at = $2 where id = (select object_id from uploads where id = $1)`,
      [used, now],
    );
    found.set('used', used);
    return found;
  }

  test('are told from those of the caller, which every place takes', async () => {
    const { client, caller } = attackerOf('session of an owner');
    const rows = new UploadRows(world.runtime.database);
    const at = world.clock.now();
    const routes: Readonly<Record<string, 'direct' | 'resumable'>> = {
      'PATCH of the upload': 'resumable',
      'completion of the upload': 'direct',
    };
    const image = { content: '\x89PNG', contentType: 'image/png', declared: { name: 'a.png' } };
    for (const [door, ask] of Object.entries(doors)) {
      if (!caller || door.startsWith('updateBulk') || door === 'content of the upload') continue;
      const route = routes[door];
      const about = route ? { route, declared: { name: 'a.txt', sizeBytes: 1 } } : {};
      const upload = /User|users/.test(door) ? image : {};
      const id = route
        ? (
            await rows.begin(
              newUpload(caller, { at, ...about, location: await world.runtime.storage.newLocation(null) }),
            )
          ).uploadId
        : await readyUpload(world.runtime.database, caller, { at, ...upload });
      const { status, body } = await ask(client, id, owner.user.id);
      expect({ status, errors: body.errors }, `${door} ${JSON.stringify(body)}`).toEqual({
        status: expect.toSatisfy((code: number) => code < 300),
        errors: undefined,
      });
    }
  });

  test('are answered in every place as uploads that do not exist', async () => {
    const foreign = new Map<string, Map<string, string>>();
    for (const name of names) foreign.set(name, await uploadsFor(attackerOf(name)));
    const attempts = names.flatMap((name) =>
      [...(foreign.get(name) ?? [])].flatMap(([about, id]) =>
        Object.keys(doors).map((door) => ({ name, about, id, door })),
      ),
    );
    const ids = attempts.map(({ id }) => id);
    const rows = () =>
      asOwner(
        world,
        `select u.id, u.state, u.received, u.writer, u.problem, o.state as object, o.owner_id, o.version
         from uploads u join stored_objects o on o.id = u.object_id where u.id = any($1) order by u.id`,
        [ids],
      );
    const before = await rows();
    const tried = sampleOf('uploads of others', attempts, {
      by: [
        ({ door }) => door,
        ({ name, door }) => `${name} ${isOfUploads(door)}`,
        ({ about, door }) => `${about} ${isOfUploads(door)}`,
      ],
    });
    const leaks: string[] = [];
    for (const { name, about, id, door } of tried) {
      const { client, caller } = attackerOf(name);
      const self = caller?.kind === 'user' ? (caller.subjectId ?? '') : victim.user.id;
      const ask = (upload: string) => (doors[door] as (typeof doors)[string])(client, upload, self);
      leaks.push(...(await leak(`${name}: ${door}, ${about}`, id, ask)));
    }
    recordTried('uploads of others', tried.length, attempts.length);
    expect(leaks).toEqual([]);
    expect(await rows()).toEqual(before);
  });
});

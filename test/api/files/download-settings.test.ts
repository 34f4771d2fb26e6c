import { createVerify, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { file } from '#entities/index.ts';
import type { ProviderName } from '#entities/kit/objects/stored-object.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asPerson } from '../../kit/as-person.ts';
import { isSignedUrl, startFakeCloudPlatform, type FakeCloudPlatform } from '../../kit/fakes/fake-cloud-platform.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { createFile, type FileRecord } from '../../kit/files/stored-upload.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { uploadBy } from '../../kit/files/uploaded-file.ts';
import { codeBlocks } from '../../kit/records/reader-shell.ts';
import { providerVariable } from '../../kit/storage-settings.ts';
import { openWorld, type World } from '../../kit/world.ts';

/** Providers that can serve their files themselves, and where they do. */
const origins = {
  bucketstore: 'https://bucketstore.test',
  edgestore: 'https://edgestore.test',
  cloudstore: 'https://storage.googleapis.com',
  disk: 'https://disk.test',
} as const;
const natives = Object.keys(origins) as (keyof typeof origins)[];
const all: readonly ProviderName[] = [...natives, 'database'];

let world: World;
let client: TestClient;
let record: FileRecord;
let folder: string;
let person: Person;
let publicKey: KeyObject;
let platform: FakeCloudPlatform;

beforeAll(async () => {
  platform = await startFakeCloudPlatform();
  folder = mkdtempSync(join(inject('stack').folder, 'files-'));
  // Ambient credentials of the cloud platform; their private key signs links without a request.
  const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  publicKey = pair.publicKey;
  const key = {
    type: 'service_account',
    client_email: 'core@project.test',
    private_key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
  const path = join(folder, 'credentials.json');
  writeFileSync(path, JSON.stringify(key));
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', path);
  const environment: Record<string, string> = { CORE_OBJECTSTORAGE_DEVMODE: 'false' };
  for (const name of all) {
    environment[providerVariable(`${name}.enabled`)] = 'true';
    environment[providerVariable(`${name}.bucket`)] = name === 'disk' ? folder : 'files';
    environment[providerVariable(`${name}.baseurl`)] = `https://files.test/of/${name}/`;
  }
  for (const name of ['bucketstore', 'edgestore'] as const) {
    environment[providerVariable(`${name}.endpoint`)] = origins[name];
    environment[providerVariable(`${name}.credentials.accesskeyid`)] = 'key';
    environment[providerVariable(`${name}.credentials.secretaccesskey`)] = 'secret of the key';
  }
  world = await openWorld({ environment });
  person = await buildPerson(world);
  client = await signedIn(world, person);
  // New files go to the first enabled provider.
  const others = natives.filter((name) => name !== 'disk').map((name) => providerVariable(`${name}.enabled`));
  await world.reconfigure(Object.fromEntries(others.map((variable) => [variable, 'false'])));
  record = await createFile(world, person, client);
  await world.reconfigure(Object.fromEntries(others.map((variable) => [variable, 'true'])));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await world.close();
  await platform.close();
});

/** A link to a file as if it were at a provider. */
async function linkAt(provider: ProviderName, args = ''): Promise<URL> {
  const bucket = provider === 'disk' ? folder : 'files';
  const statement = 'update stored_objects set provider = $2, bucket = $3 where id = $1';
  await asOwner(world, statement, [record.objectId, provider, bucket]);
  const { data, body } = await client.graphql(`{ file(id: "${record.id}") { content { downloadUrl${args} } } }`);
  if (!data?.file) throw new Error(JSON.stringify(body));
  return new URL(data.file.content.downloadUrl);
}

test('baseurl: links to this server begin with that of their provider, and are answered at its path', async () => {
  shows(
    'objectstorage.providers.bucketstore.baseurl',
    'objectstorage.providers.edgestore.baseurl',
    'objectstorage.providers.cloudstore.baseurl',
    'objectstorage.providers.disk.baseurl',
    'objectstorage.providers.database.baseurl',
  );
  for (const name of all) {
    const link = await linkAt(name, '(once: true)');
    const path = `/of/${name}/${record.objectId}/download`;
    expect(link.origin + link.pathname).toBe(`https://files.test${path}`);
    expect((await client.get(`/v1/files/${record.id}`)).body.content.url).toBe(`https://files.test${path}`);
    // HEAD asks no provider.
    const answer = await world.client().request({ method: 'HEAD', url: link.pathname + link.search });
    expect([answer.status, answer.headers['content-length']], name).toEqual([200, '11']);
  }
});

test('proxypresignenabled: while it is off, links point to the provider, unless they are good once', async () => {
  shows(
    'objectstorage.providers.bucketstore.proxypresignenabled',
    'objectstorage.providers.edgestore.proxypresignenabled',
    'objectstorage.providers.cloudstore.proxypresignenabled',
    'objectstorage.providers.disk.proxypresignenabled',
  );
  for (const name of natives) {
    await world.reconfigure({ [providerVariable('disk.endpoint')]: origins.disk });
    const link = await linkAt(name, '(expiresInSeconds: 60, disposition: INLINE)');
    expect(link.origin).toBe(origins[name]);
    if (name !== 'disk') {
      const signed = Object.fromEntries(link.searchParams);
      expect(signed['X-Amz-Expires'] ?? signed['X-Goog-Expires']).toBe('60');
      expect(signed['response-content-type']).toBe('text/plain');
      expect(signed['response-content-disposition']).toMatch(/^attachment; filename=notes\.txt/);
    }
    if (name === 'cloudstore') {
      const verify = (text: string, signature: Buffer) =>
        createVerify('sha256').update(text).verify(publicKey, signature);
      expect(isSignedUrl(link, verify)).toBe(true);
      for (const parameter of ['response-content-type', 'response-content-disposition', 'X-Goog-Expires']) {
        const altered = new URL(link);
        altered.searchParams.set(parameter, 'text/html');
        expect(isSignedUrl(altered, verify), parameter).toBe(false);
      }
    }
    expect((await linkAt(name, '(once: true)')).origin).toBe('https://files.test');
    await world.reconfigure({ [providerVariable(`${name}.proxypresignenabled`)]: 'true' });
    expect((await linkAt(name)).origin).toBe('https://files.test');
    await world.reconfigure({
      [providerVariable(`${name}.proxypresignenabled`)]: undefined,
      [providerVariable('disk.endpoint')]: undefined,
    });
  }
});

test('the CORS settings of docs/files.md let pages send every header of a direct upload to a provider', async () => {
  const [rules = ''] = codeBlocks('docs/files.md', 'json', 'Uploads');
  const [, platformRules = ''] = /`(\[\{"origin".*?)`/.exec(readFileSync('docs/files.md', 'utf8')) ?? [];
  const ofBuckets = JSON.parse(rules).CORSRules[0].AllowedHeaders;
  const sendable = {
    bucketstore: ofBuckets,
    edgestore: ofBuckets,
    cloudstore: JSON.parse(platformRules)[0].responseHeader,
  };
  for (const name of ['bucketstore', 'edgestore', 'cloudstore'] as const) {
    const provider = world.runtime.storage.providerFor({ provider: name, bucket: 'files', region: '' });
    const upload = await provider.presignPut?.('key', {
      expiresInSeconds: 60,
      sizeBytes: 5,
      contentType: 'text/plain',
    });
    if (!upload) throw new Error(`${name} signs uploads`);
    expect(
      Object.keys(upload.headers).filter((header) => !sendable[name].includes(header)),
      name,
    ).toEqual([]);
  }
});

test('credentials that can sign nothing leave links to this server', async () => {
  // Neither the configuration nor the machine has any.
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  const names = ['accesskeyid', 'secretaccesskey'].map((name) => providerVariable(`bucketstore.credentials.${name}`));
  await world.reconfigure(Object.fromEntries(names.map((name) => [name, ''])));
  expect((await linkAt('bucketstore')).origin).toBe('https://files.test');
  await world.reconfigure(Object.fromEntries(names.map((name) => [name, undefined])));
});

test('credentials of the cloud platform that were not found are looked for again after a minute', async () => {
  const [found, late] = ['credentials.json', 'late.json'].map((name) => join(folder, name)) as [string, string];
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', late);
  // Opens the bucket anew.
  await world.reconfigure({ [providerVariable('cloudstore.projectid')]: 'project-1' });
  const failures = () => world.logs.filter(({ msg }) => String(msg).includes('cloudstore signs no links')).length;
  const before = failures();
  for (let count = 0; count < 2; count += 1) expect((await linkAt('cloudstore')).origin).toBe('https://files.test');
  expect(failures()).toBe(before + 1);
  copyFileSync(found, late);
  expect((await linkAt('cloudstore')).origin).toBe('https://files.test');
  world.clock.advance(60_000);
  expect((await linkAt('cloudstore')).origin).toBe(origins.cloudstore);
  expect(failures()).toBe(before + 1);
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', found);
  await world.reconfigure({ [providerVariable('cloudstore.projectid')]: undefined });
});

test('endpoint: links to files on disk begin there; without it, this server answers them', async () => {
  shows('objectstorage.providers.disk.endpoint');
  expect((await linkAt('disk')).origin).toBe('https://files.test');
  await world.reconfigure({ [providerVariable('disk.endpoint')]: 'https://disk.test/core/' });
  const { origin, pathname, search } = await linkAt('disk');
  expect([origin, search]).toEqual(['https://disk.test', '']);
  expect(pathname).toMatch(/^\/core\/[0-9a-f]+\/\w+\/[0-9a-f]{32}$/);
  await world.reconfigure({ [providerVariable('disk.endpoint')]: undefined });
});

test('a database has no links of its own', async () => {
  expect((await linkAt('database')).origin).toBe('https://files.test');
});

test('T-115: with readfrombackup, downloads have the bytes of the verified copy, in ranges too', async () => {
  const on = {
    [providerVariable('disk.backup.enabled')]: 'true',
    [providerVariable('disk.backup.readfrombackup')]: 'true',
  };
  const link = await linkAt('disk', '(once: true)');
  const { storage } = world.runtime;
  const [held] = await asOwner<{ key: string }>(world, 'select key from stored_objects where id = $1', [
    record.objectId,
  ]);
  const { key } = held as { readonly key: string };
  const source = { provider: 'disk', bucket: folder, region: '' } as const;
  const path = `/v1/files/${record.objectId}/download`;
  await world.reconfigure(on);
  const target = storage.copyTarget(source);
  if (!target) throw new Error('there is no backup');
  const version = await storage.providerOfCopy(target).put(key, [Buffer.from('Some notes.')], 'text/plain');
  await asOwner(
    world,
    `insert into object_copies (object_id, provider, bucket, key, version, state, verified_at, checked_at, changed_at)
      values ($1, $2, $3, $4, $5, 'verified', now(), now(), now())`,
    [record.objectId, target.provider, target.bucket, key, version],
  );
  await storage.providerFor(source).delete([key]);
  expect(await world.client().get(link.pathname + link.search)).toMatchObject({ status: 200, body: 'Some notes.' });
  expect(await client.get(path, { range: 'bytes=5-8' })).toMatchObject({ status: 206, body: 'note' });
  await world.reconfigure(Object.fromEntries(Object.keys(on).map((variable) => [variable, undefined])));
  expect((await client.get(path)).status).toBe(404);
  // The check at the end finds no byte missing.
  const again = await storage.providerFor(source).put(key, [Buffer.from('Some notes.')], 'text/plain');
  await asOwner(world, 'update stored_objects set version = $2 where id = $1', [record.objectId, again]);
});

test.each(['https://files.test/v1/tasks/:id', 'https://files.test/a*b', 'https://files.test/a%20b'])(
  'the start refuses the baseurl %s, whose path could not be told from others',
  async (url) => {
    const environment = { [providerVariable('disk.baseurl')]: url };
    await expect(world.openInstance({ environment })).rejects.toThrow(/baseurl with the path .* which is not plain/);
  },
);

describe('a platform whose credentials have no private key', () => {
  const endpoint = providerVariable('cloudstore.endpoint');
  const follow = ({ pathname, search }: URL, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    world.client().request({ method, url: pathname + search, headers });

  beforeAll(async () => {
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', undefined);
    for (const [name, value] of Object.entries(platform.environment)) vi.stubEnv(name, value);
    await world.reconfigure({ [endpoint]: platform.url });
  });
  afterAll(() => world.reconfigure({ [endpoint]: undefined }));

  test('signs when the download begins: the link to this server redirects, after it has decided', async () => {
    const link = await linkAt('cloudstore', '(disposition: INLINE)');
    expect(link.origin).toBe('https://files.test');
    const answer = await follow(link, { range: 'bytes=0-3' });
    expect(answer.status, JSON.stringify(answer.body)).toBe(302);
    expect(answer.headers).toMatchObject({ 'cache-control': 'private, no-store', 'referrer-policy': 'no-referrer' });
    const location = new URL(String(answer.headers['location']));
    expect(location.origin).toBe(platform.url);
    expect(platform.hasSigned(location)).toBe(true);
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      'X-Goog-Expires': '60',
      'response-content-type': 'text/plain',
      'response-content-disposition': expect.stringMatching(/^attachment; filename=notes\.txt/),
    });
    // This server answers what needs no bytes, and whoever has lost the right.
    expect((await follow(link, {}, 'HEAD')).status).toBe(200);
    expect((await follow(link, { 'if-none-match': '*' })).status).toBe(304);
    const signatures = platform.seen.length;
    expect((await follow(new URL(`${link}x`))).status).toBe(404);
    expect(platform.seen).toHaveLength(signatures);
  });

  test('is not asked while proxypresignenabled is on, for links that are good once, and with credentials', async () => {
    const once = await linkAt('cloudstore', '(once: true)');
    const proxied = async (answer: Promise<{ readonly status: number }>) => expect((await answer).status).not.toBe(302);
    const signed = () => platform.seen.filter((path) => path.includes('signBlob')).length;
    const before = signed();
    await proxied(follow(once));
    await proxied(client.get(`/v1/files/${record.objectId}/download`));
    const link = await linkAt('cloudstore');
    await world.reconfigure({ [providerVariable('cloudstore.proxypresignenabled')]: 'true' });
    await proxied(follow(link));
    await world.reconfigure({ [providerVariable('cloudstore.proxypresignenabled')]: undefined });
    expect(signed()).toBe(before);
  });

  test('that signs nothing leaves the download to this server', async () => {
    platform.answerSignBlob(403);
    const link = await linkAt('cloudstore');
    // It has no such object.
    expect((await follow(link)).status).toBe(404);
    platform.answerSignBlob(200);
    expect(world.logs.map(({ msg }) => msg)).toContain('a link to the provider could not be signed');
  });

  test('a list of fifty files causes no request to any provider', async () => {
    const ends = ['bucketstore', 'edgestore'].map((name) => providerVariable(`${name}.endpoint`));
    await world.reconfigure(Object.fromEntries(ends.map((name) => [name, platform.url])));
    await asPerson(world, person, person.organization.id, async (data) => {
      for (let count = 0; count < 50; count += 1) await data.create(file, { content: await uploadBy(world, person) });
    });
    await linkAt('disk');
    const places = await asOwner(world, 'select id, provider, bucket from stored_objects');
    const list = '{ files(first: 50) { edges { node { content { downloadUrl } } } } }';
    for (const name of all) {
      await asOwner(world, `update stored_objects set provider = $1, bucket = 'files'`, [name]);
      // The first link finds out which credentials the machine has.
      await client.graphql('{ files(first: 1) { edges { node { content { downloadUrl } } } } }');
      const before = platform.seen.length;
      const { data, body } = await client.graphql(list);
      expect(body.errors, name).toBeUndefined();
      const urls = data.files.edges.map(
        ({ node }: { node: { content: { downloadUrl: string } } }) => node.content.downloadUrl,
      );
      expect(new Set(urls).size, name).toBe(50);
      expect(platform.seen.slice(before), name).toEqual([]);
    }
    // The check at the end finds no byte missing.
    await asOwner(
      world,
      `update stored_objects s set provider = p.provider, bucket = p.bucket
        from jsonb_to_recordset($1) as p (id text, provider text, bucket text) where p.id = s.id`,
      [JSON.stringify(places)],
    );
    await world.reconfigure(
      Object.fromEntries(ends.map((name) => [name, origins[name.includes('EDGE') ? 'edgestore' : 'bucketstore']])),
    );
  });
});

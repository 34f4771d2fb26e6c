// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { join } from 'node:path';
import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { ReadableObject } from '#activities/clients/storage/object-storage.ts';
import { ConfigStore } from '#config/live/config-store.ts';
import { providerNames, type Location, type ProviderName } from '#entities/kit/objects/stored-object.ts';
import { openRuntime } from '#runtime/core-runtime.ts';
import { ensureStorage } from '#runtime/ensure-storage.ts';
import { S3_CREDENTIALS } from '#temporal-dev/servers/launch-s3.ts';
import { recordRead } from '../kit/config-reads.ts';
import { openStorageProxy, type StorageProxy } from '../kit/fakes/storage-proxy.ts';
import { eventually } from '../kit/eventually.ts';
import { startObjectStore, type ObjectStore } from '../kit/object-stores.ts';
import { ProductProcess } from '../kit/processes/spawned-process.ts';
import { shows } from '../kit/shows.ts';
import { newCloudBucket, newS3Bucket } from '../kit/storage-providers.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let folder: string;
let s3: ObjectStore;
let gcs: ObjectStore;
let cloud: StorageProxy;
/** The variables that a test has set. */
const changed = new Set<string>();

/** Leaves below `objectstorage` as variables. */
const variables = (leaves: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(leaves).map(([path, value]) => [
      `CORE_OBJECTSTORAGE_${path.toUpperCase().replaceAll('.', '_')}`,
      value,
    ]),
  );

/** Sets leaves below `objectstorage`, as an operator does while the server runs. */
async function set(leaves: Readonly<Record<string, string>>): Promise<void> {
  for (const variable of Object.keys(variables(leaves))) changed.add(variable);
  expect(await world.reconfigure(variables(leaves))).not.toMatchObject({ outcome: 'refused' });
}

/** A bucket of the provider, which exists. */
const bucketOf = (name: ProviderName, which = 'one') => (name === 'disk' ? join(folder, which) : `${name}-${which}`);

/** What makes a provider usable. */
function leavesOf(name: ProviderName): Record<string, string> {
  const own = {
    bucketstore: { endpoint: s3.url, region: 'us-east-1', ...credentials() },
    edgestore: { endpoint: s3.url, ...credentials() },
    cloudstore: { endpoint: cloud.url },
    disk: {},
    database: {},
  }[name];
  const leaves = { enabled: 'true', bucket: bucketOf(name), ...own };
  return Object.fromEntries(Object.entries(leaves).map(([leaf, value]) => [`providers.${name}.${leaf}`, value]));
}

const credentials = () => ({
  'credentials.accesskeyid': S3_CREDENTIALS.accesskeyid,
  'credentials.secretaccesskey': S3_CREDENTIALS.secretaccesskey,
});

const presentation = { expiresInSeconds: 60, contentType: 'text/plain', disposition: 'attachment' };

beforeAll(async () => {
  world = await openWorld({ environment: { CORE_OBJECTSTORAGE_DEVMODE: 'false' } });
  folder = join(inject('stack').folder, world.name);
  [s3, gcs] = await Promise.all([startObjectStore('s3'), startObjectStore('gcs')]);
  cloud = await openStorageProxy(gcs.url);
  for (const which of ['one', 'two', 'one-backup']) {
    await newS3Bucket(s3.url, `bucketstore-${which}`);
    await newS3Bucket(s3.url, `edgestore-${which}`);
    await newCloudBucket(gcs.url, `cloudstore-${which}`);
  }
  // Ambient credentials with a private key, with which links are signed without a request.
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const account = {
    type: 'service_account',
    project_id: 'test',
    client_email: 'core@test.iam.gserviceaccount.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
  await writeFile(join(folder, 'account.json'), JSON.stringify(account));
  process.env['GOOGLE_APPLICATION_CREDENTIALS'] = join(folder, 'account.json');
});
afterAll(async () => {
  delete process.env['GOOGLE_APPLICATION_CREDENTIALS'];
  await world.close();
  await cloud.close();
  await Promise.all([s3, gcs].map((server) => server.stop()));
});
beforeEach(async () => {
  await world.reconfigure(Object.fromEntries([...changed].map((variable) => [variable, undefined])));
  changed.clear();
});

const storage = () => world.runtime.storage;

/** Stores an object as an upload does. */
async function store(content: string): Promise<ReadableObject & { readonly location: Location }> {
  const location = await storage().newLocation('01ORGANIZATION');
  const version = await storage()
    .providerFor(location)
    .put(location.key, [Buffer.from(content)], 'text/plain');
  return { location, version, copy: null };
}

const textOf = async (object: ReadableObject) =>
  Buffer.concat(await (await storage().openForRead(object)).toArray()).toString();

it('objectstorage.devmode stores files below the state folder and ignores all providers', async () => {
  shows('objectstorage.devmode');
  const instance = await world.openInstance({
    environment: {
      CORE_OBJECTSTORAGE_DEVMODE: 'true',
      CORE_OBJECTSTORAGE_PROVIDERS_DISK_ENABLED: 'true',
      CORE_OBJECTSTORAGE_PROVIDERS_DISK_BUCKET: join(folder, 'ignored'),
    },
  });
  expect(await instance.runtime.storage.newLocation(null)).toMatchObject({
    provider: 'disk',
    bucket: join(folder, 'files'),
  });
  await expect(storage().newLocation(null)).rejects.toMatchObject({ code: 'storage_disabled' });
});

it('objectstorage.enabled, when off, neither stores nor serves files', async () => {
  await set({ 'providers.disk.enabled': 'true', 'providers.disk.bucket': join(folder, 'files') });
  const object = await store('content');
  expect(object.location.key).toMatch(/^[0-9a-f]{32}\/01ORGANIZATION\/[0-9a-f]{32}$/);
  expect(await textOf(object)).toBe('content');
  await set({ enabled: 'false' });
  await expect(storage().newLocation('01ORGANIZATION')).rejects.toMatchObject({ code: 'storage_disabled' });
  await expect(textOf(object)).rejects.toMatchObject({ code: 'storage_disabled' });
  expect(await storage().link(object, { expiresInSeconds: 60, contentType: '', disposition: '' })).toBeUndefined();
});

describe.each(providerNames)('provider %s', (name) => {
  it('enabled takes new files; when it is off, its files are not served', async () => {
    shows(`objectstorage.providers.${name}.enabled`);
    await set(leavesOf(name));
    const object = await store('content');
    expect(object.location).toMatchObject({ provider: name });
    expect(await textOf(object)).toBe('content');
    await set({ [`providers.${name}.enabled`]: 'false' });
    await expect(textOf(object)).rejects.toMatchObject({
      code: 'storage_unavailable',
      status: 503,
      details: { retryAfterSeconds: 5 },
    });
    await expect(storage().newLocation(null)).rejects.toMatchObject({ code: 'storage_disabled' });
  });

  it('bucket has new files; those of another bucket stay readable', async () => {
    shows(`objectstorage.providers.${name}.bucket`);
    await set(leavesOf(name));
    const object = await store('in one');
    await set({ [`providers.${name}.bucket`]: bucketOf(name, 'two') });
    const other = await store('in two');
    expect([object, other].map(({ location }) => location.bucket)).toEqual([bucketOf(name), bucketOf(name, 'two')]);
    expect(await storage().providerFor(object.location).head(other.location.key)).toBeUndefined();
    expect([await textOf(object), await textOf(other)]).toEqual(['in one', 'in two']);
  });

  it('ensureavailable lets nothing start that cannot store files', async () => {
    shows(`objectstorage.providers.${name}.ensureavailable`);
    const start = async (environment: Record<string, string>) => {
      const config = await ConfigStore.open({
        environment: {
          ...world.environment,
          ...variables(leavesOf(name)),
          CORE_AUTHZ_ENABLED: 'false',
          CORE_SERVER_SHUTDOWNGRACEPERIOD: '1000',
          ...environment,
        },
        directory: folder,
        stateFolder: folder,
        logger: pino({ level: 'silent' }),
        record: recordRead,
      });
      const runtime = await openRuntime({
        config,
        temporalEnvironment: {},
        logger: pino({ level: 'silent' }),
        stateFolder: folder,
        process: 'core tool',
      });
      try {
        await ensureStorage(config.current, runtime.storage);
      } finally {
        await runtime.close();
        config.close();
      }
    };
    const isOn = variables({ [`providers.${name}.ensureavailable`]: 'true' });
    await start(isOn);
    await start(broken(name));
    await expect(start({ ...isOn, ...broken(name) })).rejects.toThrow(
      `objectstorage.providers.${name}.ensureavailable is on, but ${name} cannot be used`,
    );
  });

  it('backup.enabled gives its files copies in a bucket beside it', async () => {
    shows(`objectstorage.providers.${name}.backup.enabled`);
    await set(leavesOf(name));
    const { location } = await store('content');
    expect(storage().copyTarget(location)).toBeUndefined();
    await set({ [`providers.${name}.backup.enabled`]: 'true' });
    expect(storage().copyTarget(location)).toMatchObject({ provider: name, bucket: `${bucketOf(name)}-backup` });
  });

  it('backup.provider names the provider of copies, which need not be enabled', async () => {
    shows(`objectstorage.providers.${name}.backup.provider`);
    const other = name === 'disk' ? 'database' : 'disk';
    await set({
      ...leavesOf(name),
      [`providers.${other}.bucket`]: bucketOf(other),
      [`providers.${name}.backup.enabled`]: 'true',
      [`providers.${name}.backup.provider`]: other,
    });
    const { location } = await store('content');
    const target = storage().copyTarget(location);
    expect(target).toEqual({ provider: other, bucket: bucketOf(other), region: '' });
    if (target) await storage().providerOfCopy(target).probe();
  });

  it('backup.region is the region of copies', async () => {
    shows(`objectstorage.providers.${name}.backup.region`);
    await set({
      ...leavesOf('bucketstore'),
      'providers.bucketstore.enabled': 'false',
      ...leavesOf(name),
      [`providers.${name}.backup.enabled`]: 'true',
      ...(name === 'bucketstore' || name === 'edgestore'
        ? {}
        : { [`providers.${name}.backup.provider`]: 'bucketstore' }),
    });
    const scope = async () => {
      const target = storage().copyTarget((await store('content')).location);
      return target && (await storage().providerOfCopy(target).presignGet?.('key', presentation));
    };
    expect(await scope()).toContain(name === 'edgestore' ? '%2Fauto%2F' : '%2Fus-east-1%2F');
    await set({ [`providers.${name}.backup.region`]: 'eu-north-1' });
    expect(await scope()).toContain('%2Feu-north-1%2F');
  });

  it('backup.readfrombackup serves verified copies, and the source where there is none', async () => {
    shows(`objectstorage.providers.${name}.backup.readfrombackup`);
    await set({ ...leavesOf(name), [`providers.${name}.backup.enabled`]: 'true' });
    const object = await store('source');
    const target = storage().copyTarget(object.location);
    if (!target) throw new Error('copies are on');
    const { key } = object.location;
    const version = await storage()
      .providerOfCopy(target)
      .put(key, [Buffer.from('copy')], 'text/plain');
    const copied = { ...object, copy: { ...target, key, version } };
    expect(await textOf(copied)).toBe('source');
    await set({ [`providers.${name}.backup.readfrombackup`]: 'true' });
    expect(await textOf(copied)).toBe('copy');
    expect(await textOf(object)).toBe('source');
    await storage().providerFor(object.location).delete([key]);
    expect(await textOf(copied)).toBe('copy');
  });
});

describe.each(['bucketstore', 'edgestore'] as const)('provider %s', (name) => {
  it('credentials are those of the service', async () => {
    shows(
      `objectstorage.providers.${name}.credentials.accesskeyid`,
      `objectstorage.providers.${name}.credentials.secretaccesskey`,
    );
    await set(leavesOf(name));
    const object = await store('content');
    await set({ [`providers.${name}.credentials.secretaccesskey`]: 'another secret' });
    await expect(textOf(object)).rejects.toMatchObject({ code: 'storage_unavailable' });
    await set({ ...leavesOf(name), [`providers.${name}.credentials.accesskeyid`]: 'another-key' });
    await expect(textOf(object)).rejects.toMatchObject({ code: 'storage_unavailable' });
    await set(leavesOf(name));
    expect(await textOf(object)).toBe('content');
  });
});

it('a change of settings ends the connections of the former ones, those in use after what they transfer', async () => {
  const proxy = await openStorageProxy(s3.url);
  try {
    await set({ ...leavesOf('bucketstore'), 'providers.bucketstore.endpoint': proxy.url });
    const content = 'content'.repeat(1_000_000);
    const object = await store(content);
    const stream = await storage().openForRead(object);
    await set({ 'providers.bucketstore.endpoint': s3.url });
    expect(await textOf(object)).toBe(content);
    expect(await proxy.connections()).toBeGreaterThan(0);
    expect(Buffer.concat(await stream.toArray()).toString()).toBe(content);
    await eventually(async () => (await proxy.connections()) === 0);
  } finally {
    await proxy.close();
  }
});

it('new files go to the first enabled provider in the order of the specification', async () => {
  for (const name of providerNames.toReversed()) {
    await set(leavesOf(name));
    expect((await storage().newLocation(null)).provider).toBe(name);
  }
});

/** What makes a provider unusable. */
const broken = (name: ProviderName): Record<string, string> =>
  ({
    bucketstore: { CORE_OBJECTSTORAGE_PROVIDERS_BUCKETSTORE_ENDPOINT: 'http://127.0.0.1:1' },
    edgestore: { CORE_OBJECTSTORAGE_PROVIDERS_EDGESTORE_ENDPOINT: 'http://127.0.0.1:1' },
    cloudstore: { CORE_OBJECTSTORAGE_PROVIDERS_CLOUDSTORE_ENDPOINT: 'http://127.0.0.1:1' },
    disk: { CORE_OBJECTSTORAGE_PROVIDERS_DISK_BUCKET: '/dev/null/files' },
    database: { CORE_DB_PRIMARYDBSOURCE: 'postgres://nobody@127.0.0.1:1/nothing' },
  })[name];

it('ensureavailable ends a process that cannot store files; without it, readiness names the provider', async () => {
  const environment = {
    ...world.environment,
    STACK_STATE_DIR: folder,
    CORE_SERVER_SHUTDOWNGRACEPERIOD: '1000',
    ...variables({ 'providers.disk.enabled': 'true', 'providers.disk.bucket': '/dev/null/files' }),
  };
  const api = new ProductProcess({
    program: 'api/api-main.ts',
    environment: { ...environment, ...variables({ 'providers.disk.ensureavailable': 'true' }) },
  });
  api.ready.catch(() => {});
  expect(await api.ended).toEqual({ code: 1, signal: null });
  expect(JSON.stringify(api.logs)).toContain('objectstorage.providers.disk.ensureavailable is on');
  const instance = await world.openInstance({ environment });
  await eventually(async () => (await instance.client().get('/readyz')).status === 200);
  expect(await instance.client().get('/readyz')).toMatchObject({
    status: 200,
    body: { status: 'ready', checks: { object_storage_disk: { status: 'degraded', reason: 'unreachable' } } },
  });
});

it.each(['bucketstore', 'edgestore', 'cloudstore'] as const)(
  '%s: proxypresignenabled, when off, sends downloads to the provider',
  async (name) => {
    await set(leavesOf(name));
    // The emulator serves links under its own address only.
    if (name === 'cloudstore') await set({ 'providers.cloudstore.endpoint': gcs.url });
    const object = await store('content');
    const link = await storage().link(object, presentation);
    const answer = await fetch(link ?? '');
    expect([answer.status, await answer.text()]).toEqual([200, 'content']);
    await set({ [`providers.${name}.proxypresignenabled`]: 'true' });
    expect(await storage().link(object, presentation)).toBeUndefined();
  },
);

it('bucketstore: region is in the scope of signatures', async () => {
  shows('objectstorage.providers.bucketstore.region');
  await set({ ...leavesOf('bucketstore'), 'providers.bucketstore.region': 'eu-west-7' });
  const location = await storage().newLocation(null);
  expect(location.region).toBe('eu-west-7');
  expect(await storage().providerFor(location).presignGet?.('key', presentation)).toContain('%2Feu-west-7%2F');
});

it('bucketstore: endpoint is where requests go; without one, to the service of the region', async () => {
  shows('objectstorage.providers.bucketstore.endpoint');
  await set(leavesOf('bucketstore'));
  const link = async () =>
    storage()
      .providerFor(await storage().newLocation(null))
      .presignGet?.('key', presentation);
  expect(await link()).toMatch(new RegExp(`^${s3.url}/bucketstore-one/key\\?`));
  await set({ 'providers.bucketstore.endpoint': '', 'providers.bucketstore.region': 'eu-west-7' });
  expect(await link()).toMatch(/^https:\/\/bucketstore-one\.s3\.eu-west-7\.amazonaws\.com\/key\?/);
});

it('edgestore: endpoint is where requests go; without one, to that of credentials.accountid', async () => {
  shows('objectstorage.providers.edgestore.endpoint', 'objectstorage.providers.edgestore.credentials.accountid');
  await set(leavesOf('edgestore'));
  const link = async () =>
    storage()
      .providerFor(await storage().newLocation(null))
      .presignGet?.('key', presentation);
  expect(await link()).toMatch(new RegExp(`^${s3.url}/edgestore-one/key\\?`));
  await set({ 'providers.edgestore.endpoint': '', 'providers.edgestore.credentials.accountid': 'account7' });
  expect(await link()).toMatch(/^https:\/\/account7\.r2\.cloudflarestorage\.com\/edgestore-one\/key\?/);
});

it('cloudstore: endpoint is the emulator, and projectid the project that requests are charged to', async () => {
  shows('objectstorage.providers.cloudstore.endpoint', 'objectstorage.providers.cloudstore.projectid');
  await set(leavesOf('cloudstore'));
  const object = await store('content');
  const path = `/storage/v1/b/cloudstore-one/o/${encodeURIComponent(object.location.key)}`;
  expect((await fetch(`${gcs.url}${path}`)).status).toBe(200);
  const charged = () => cloud.seen.filter(({ url }) => url.includes('userProject=project-7'));
  expect(charged()).toEqual([]);
  await set({ 'providers.cloudstore.projectid': 'project-7' });
  expect(await textOf(object)).toBe('content');
  expect(charged().length).toBeGreaterThan(0);
});

it('a file whose bytes are gone is not found', async () => {
  await set(leavesOf('disk'));
  const object = await store('content');
  await storage().providerFor(object.location).delete([object.location.key]);
  await expect(textOf(object)).rejects.toMatchObject({ code: 'not_found' });
});

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { effectPaths } from '#config/objects/leaf.ts';
import type { Config } from '#config/objects/root.ts';
import { ConfigStore } from '#config/live/config-store.ts';
import { leastEnvironment, Sandbox } from './configuration-folder.ts';

let sandbox: Sandbox;
let reads: string[];
beforeEach(async () => {
  sandbox = await Sandbox.make();
  reads = [];
});
afterEach(() => sandbox.remove());

async function open(content: string): Promise<ConfigStore> {
  await sandbox.write('c.yaml', content);
  const logger = { info: () => {}, warn: () => {}, error: () => {} };
  const record = (path: string): void => {
    reads.push(path);
  };
  return ConfigStore.open({
    directory: sandbox.directory,
    environment: leastEnvironment,
    file: 'c.yaml',
    logger,
    record,
  });
}

const keys = 'auth: {token: {apitokens: {keys: {a: {secret: 0123456789abcdef0123456789abcdef}}}}}';

describe('recording', () => {
  test('notes leaves, not the objects on the way to them', async () => {
    const { current } = await open('server: {}');
    const { cors, tls } = current.server;
    expect(reads).toEqual([]);
    expect(tls.enabled).toBe(false);
    expect(cors.alloworigins.length).toBe(0);
    expect(reads).toEqual(['server.tls.enabled', 'server.cors.alloworigins']);
  });

  test('notes the fields of items of lists and maps', async () => {
    const { current } = await open(
      `ratelimit: {options: [{requests: 5}, {requests: 6}]}\njobqueue: {queueconf: {Queues: {email: {MaxWorkers: 3}}}}\n${keys}`,
    );
    expect(current.ratelimit.options.map((option) => option.requests)).toEqual([5, 6]);
    for (const [name, queue] of Object.entries(current.jobqueue.queueconf.Queues))
      expect([name, queue.MaxWorkers]).toEqual(['email', 3]);
    expect(current.auth.token.apitokens.keys.a?.status).toBe('active');
    expect(new Set(reads)).toEqual(
      new Set([
        'ratelimit.options[].requests',
        'jobqueue.queueconf.Queues.*.MaxWorkers',
        'auth.token.apitokens.keys.*.status',
      ]),
    );
  });

  test('knows every leaf that can have an effect', async () => {
    const { current } = await open(
      `ratelimit: {options: [{}]}\nratelimitunmatched: {options: [{}]}\nauthz: {parentcontextconditions: [{kind: a, name: b}]}\njobqueue: {queueconf: {Queues: {email: {}}, PeriodicJobs: [{name: a, workflow: runIt, schedule: 5000}]}}\n${keys}`,
    );
    JSON.stringify(current);
    expect([...new Set(reads)].toSorted()).toEqual(effectPaths().toSorted());
  });

  test('notes a copy, but not a look at the keys', async () => {
    const { current } = await open('server: {}');
    expect({ ...current.backfill }).toEqual({ enabled: false });
    expect(Object.keys(current.edge)).toContain('apitoken');
    expect('apitoken' in current.edge).toBe(true);
    expect(reads).toEqual(['backfill.enabled']);
  });

  test('hands out the same wrapper as long as nothing changes, also to subscribers', async () => {
    const store = await open('server: {complexitylimit: 5}');
    const before = store.current;
    expect(store.current).toBe(before);
    expect(before.auth).toBe(before.auth);
    let seen: Config | undefined;
    store.subscribe('server', (next) => {
      seen = next;
    });
    reads = [];
    await sandbox.write('c.yaml', 'server: {complexitylimit: 6}');
    await store.reload();
    // The loader, its rules and the comparison read the plain object.
    expect(reads).toEqual([]);
    expect(store.current).toBe(seen);
    expect(store.current.auth).toBe(before.auth);
    expect(seen?.server.complexitylimit).toBe(6);
    expect(reads).toEqual(['server.complexitylimit']);
  });

  test('refuses changes as the frozen object does', async () => {
    const { current } = await open('server: {cors: {alloworigins: ["*"]}}');
    expect(() => Object.assign(current.server, { dev: false })).toThrow(TypeError);
    expect(() => Object.defineProperty(current.server, 'x', { value: 1 })).toThrow(TypeError);
    expect(Reflect.deleteProperty(current.server, 'dev')).toBe(false);
    expect(() => Object.setPrototypeOf(current.server, null)).toThrow(TypeError);
    expect(current.server.dev).toBe(true);
    expect(Array.isArray(current.ratelimit.options)).toBe(true);
  });

  test('costs nothing when it is off: the configuration itself is handed out', async () => {
    const logger = { info: () => {}, warn: () => {}, error: () => {} };
    const store = await ConfigStore.open({ directory: sandbox.directory, environment: leastEnvironment, logger });
    expect(Object.isFrozen(store.current)).toBe(true);
    expect(structuredClone(store.current)).toEqual(store.current);
  });
});

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ConfigurationError } from '#config/schema/config-problem.ts';
import type { Config } from '#config/objects/root.ts';
import { ConfigStore, type StoreOptions } from '#config/live/config-store.ts';
import { leastEnvironment, Sandbox } from './configuration-folder.ts';
import { showsWithinConfig } from '../kit/shows.ts';

let sandbox: Sandbox;
let store: ConfigStore;
/** Everything logged, as `level: message`. */
let log: string[];
let logged: object[];

beforeEach(async () => {
  sandbox = await Sandbox.make();
  [log, logged] = [[], []];
});
afterEach(async () => {
  vi.useRealTimers();
  store.close();
  await sandbox.remove();
});

const say = (level: string) => (fields: object, message: string) => {
  log.push(`${level}: ${message}`);
  logged.push(fields);
};

async function open(content: string, options: Partial<StoreOptions> = {}): Promise<ConfigStore> {
  await sandbox.write('c.yaml', content);
  store = await ConfigStore.open({
    directory: sandbox.directory,
    environment: leastEnvironment,
    file: 'c.yaml',
    logger: { info: say('info'), warn: say('warn'), error: say('error') },
    ...options,
  });
  return store;
}

async function change(content: string) {
  await sandbox.write('c.yaml', content);
  return store.reload();
}

describe('opening', () => {
  test('is refused with all problems', async () => {
    await open('server: {}');
    await sandbox.write('c.yaml', 'servr: 1');
    const again = ConfigStore.open({
      directory: sandbox.directory,
      environment: leastEnvironment,
      file: 'c.yaml',
      logger: { info() {}, warn() {}, error() {} },
    });
    await expect(again).rejects.toThrow(ConfigurationError);
  });

  test('says once which fields are set without having an effect', async () => {
    await open('jobqueue: {queueconf: {AdvisoryLockPrefix: 7, Logger: {}, Workers: {}, JobStuckHandler: b}}');
    expect(log).toHaveLength(4);
    expect(log[0]).toBe(
      'warn: jobqueue.queueconf.AdvisoryLockPrefix is set. No effect: the queue takes no locks in PostgreSQL; Temporal has its own.',
    );
    for (const line of log) expect(line).toContain('No effect: ');
    await store.reload();
    expect(log).toHaveLength(4);
  });
});

describe('a field of a feature that does not exist yet', () => {
  test('is warned about at start when it is set, even to its default', async () => {
    await open('ormconfig: {questionnaireproducturl: https://q.example}\nserver: {complexitylimit: 5}');
    expect(log).toEqual([
      'warn: ormconfig.questionnaireproducturl is set. It has no effect yet (questionnaires); remove it.',
    ]);
  });
});

describe('a reload', () => {
  test('of a bad file keeps the running configuration and says so once per change', async () => {
    await open('server: {complexitylimit: 5}');
    const before = store.current;
    const report = await change('server: {complexitylimit: 0}');
    expect(report).toMatchObject({ outcome: 'refused', problems: [{ path: 'server.complexitylimit' }] });
    expect(store.current).toBe(before);
    await store.reload();
    await store.reload();
    expect(log).toEqual([
      'error: The configuration has a problem:\n  c.yaml:1: server.complexitylimit = 0: is below the minimum of 1 fields; write 1 to 1000000\nThe running configuration is kept.',
    ]);
    await change('server: {complexitylimit: -1}');
    expect(log).toHaveLength(2);
    await change('server: {complexitylimit: 5}');
    await change('server: {complexitylimit: -1}');
    expect(log).toHaveLength(3);
  });

  test('of a file that is gone or no YAML keeps the running configuration', async () => {
    await open('server: {complexitylimit: 5}');
    expect(await change('server: [')).toMatchObject({ outcome: 'refused' });
    await sandbox.remove();
    expect(await store.reload()).toMatchObject({ outcome: 'refused', problems: [{ reason: 'does not exist' }] });
    expect(store.current.server.complexitylimit).toBe(5);
  });

  test('without a change does nothing', async () => {
    await open('server: {complexitylimit: 5}');
    const before = store.current;
    expect(await change('# the same\nserver: {complexitylimit: 5}')).toEqual({ outcome: 'unchanged' });
    expect(store.current).toBe(before);
    expect(log).toEqual([]);
  });

  test('swaps the changed objects at once and keeps the others', async () => {
    await open('server: {complexitylimit: 5}');
    const before = store.current;
    const report = await change('server: {complexitylimit: 6, cors: {alloworigins: ["*"]}}');
    expect(report).toEqual({
      outcome: 'changed',
      changes: [
        { path: 'server.cors.alloworigins', from: '[]', to: '["*"]' },
        { path: 'server.complexitylimit', from: '5', to: '6' },
      ],
      waiting: [],
    });
    expect(before.server.complexitylimit).toBe(5);
    expect(store.current.server).toMatchObject({ complexitylimit: 6, cors: { alloworigins: ['*'] } });
    expect(store.current.server.tls).toBe(before.server.tls);
    expect(store.current.auth).toBe(before.auth);
    expect(Object.isFrozen(store.current.server.cors.alloworigins)).toBe(true);
    expect(Object.isFrozen(store.current) && Object.isFrozen(store.current.server)).toBe(true);
    expect(log).toEqual(['info: Configuration reloaded: server.cors.alloworigins, server.complexitylimit']);
  });

  test('names a field that needs a restart once and keeps its running value', async () => {
    await open('server: {listen: ":1000"}');
    expect(await change('server: {listen: ":2000", complexitylimit: 6}')).toMatchObject({
      outcome: 'changed',
      waiting: ['server.listen'],
    });
    expect(store.current.server).toMatchObject({ listen: ':1000', complexitylimit: 6 });
    await store.reload();
    expect(log.filter((line) => line.includes('restart'))).toEqual([
      'warn: server.listen takes effect after a restart',
    ]);
    expect(logged[0]).toEqual({ change: { path: 'server.listen', from: '":1000"', to: '":2000"' } });
    await change('server: {listen: ":3000", complexitylimit: 6}');
    await change('server: {listen: ":1000", complexitylimit: 6}');
    await change('server: {listen: ":3000", complexitylimit: 6}');
    expect(log.filter((line) => line.includes('restart'))).toHaveLength(3);
    expect(store.current.server.listen).toBe(':1000');
  });

  test('is refused when what can be obeyed does not go with what must wait', async () => {
    await open('workflows: {dispatch: {queuename: mine}}\njobqueue: {queueconf: {FetchCooldown: 100}}');
    await open('auth: {token: {generatekeys: false, keys: {key-1: a.pem}}}');
    const report = await change('auth: {token: {generatekeys: true}}');
    expect(report).toMatchObject({ outcome: 'refused', problems: [{ where: 'the running configuration' }] });
    expect(store.current.auth.token).toMatchObject({ generatekeys: false, keys: { 'key-1': 'a.pem' } });
  });

  test('logs the change of a secret without the secret', async () => {
    await open(
      'subscription: {privatepaymentkey: first-hunter2}\nintegrations: {chatruntime: {webhookURL: https://hooks.example/hunter2}}',
    );
    expect(JSON.stringify([log, logged])).not.toContain('hunter2');
    log.length = 0;
    await change(
      'subscription: {privatepaymentkey: second-hunter2}\nsessions: {signingkey: third-hunter2-third-hunter2-third-hunter2}',
    );
    expect(store.current.subscription.privatepaymentkey).toBe('second-hunter2');
    expect(log).toHaveLength(2);
    expect(JSON.stringify([log, logged])).not.toContain('hunter2');
  });

  test('follows the files that _FILE variables name', async () => {
    const file = await sandbox.write('key', 'one\n');
    await open('server: {}', { environment: { ...leastEnvironment, CORE_SUBSCRIPTION_PRIVATEPAYMENTKEY_FILE: file } });
    await sandbox.write('key', 'two\n');
    await store.reload();
    expect(store.current.subscription.privatepaymentkey).toBe('two');
  });

  test('that is asked for twice runs once', async () => {
    await open('server: {}');
    await sandbox.write('c.yaml', 'server: {complexitylimit: 6}');
    const [first, second] = await Promise.all([store.reload(), store.reload()]);
    expect(first).toBe(second);
    expect(log).toHaveLength(1);
  });
});

describe('subscriptions', () => {
  test('are called for what changed at or below their path, with both configurations', async () => {
    await open('server: {complexitylimit: 5}');
    const calls: string[] = [];
    const note = (name: string) => (next: Config, previous: Config) => {
      calls.push(`${name} ${previous.server.complexitylimit}-${next.server.complexitylimit} ${store.current === next}`);
    };
    for (const path of ['', 'server', 'server.complexitylimit', 'server.cors', 'auth', 'refreshinterval'])
      store.subscribe(path, note(path));
    await change('server: {complexitylimit: 6}');
    expect(calls).toEqual([' 5-6 true', 'server 5-6 true', 'server.complexitylimit 5-6 true']);
  });

  test('end, fail without harm and are refused for unknown paths', async () => {
    await open('server: {complexitylimit: 5}');
    const calls: string[] = [];
    const end = store.subscribe('server', () => calls.push('ended'));
    store.subscribe('server', () => {
      throw new Error('no');
    });
    store.subscribe('server', () => calls.push('called'));
    end();
    await change('server: {complexitylimit: 6}');
    expect(calls).toEqual(['called']);
    expect(log.at(-1)).toBe('error: A subscriber to the configuration failed');
    expect(() => store.subscribe('servr', () => {})).toThrow('No configuration at servr');
  });
});

describe('the timer', () => {
  test('reloads every refreshinterval, which can itself be changed', async () => {
    showsWithinConfig('refreshinterval');
    await open('refreshinterval: 5000');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    store.start();
    await sandbox.write('c.yaml', 'refreshinterval: 2000\nserver: {complexitylimit: 6}');
    vi.advanceTimersByTime(4999);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1);
    // The reload is on its way; asking again gives the same one.
    await store.reload();
    expect(store.current.server.complexitylimit).toBe(6);
    await sandbox.write('c.yaml', 'refreshinterval: 2000\nserver: {complexitylimit: 7}');
    vi.advanceTimersByTime(2000);
    await store.reload();
    expect(store.current.server.complexitylimit).toBe(7);
    store.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('does not keep the process alive and does not run before start', async () => {
    const timeout = vi.spyOn(globalThis, 'setTimeout');
    await open('server: {}');
    const intervals = () => timeout.mock.calls.flatMap(([, delay], index) => (delay === 600_000 ? [index] : []));
    expect(intervals()).toEqual([]);
    store.start();
    expect(intervals().map((index) => timeout.mock.results[index]?.value.hasRef())).toEqual([false]);
    timeout.mockRestore();
  });
});

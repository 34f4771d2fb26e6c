import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Field } from '#config/schema/field.ts';
import { leaves } from '#config/objects/leaf.ts';
import { Loading } from '#config/reading/loading.ts';
import { readEnvironment } from '#config/reading/read-environment.ts';
import { readObject } from '#config/reading/read-value.ts';
import { root } from '#config/objects/root.ts';
import { parseTree } from '#config/schema/parse-tree.ts';
import { leastEnvironment, Sandbox } from './configuration-folder.ts';
import { sampleValue } from './sample-config-value.ts';
import { showsWithinConfig } from '../kit/shows.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.make();
});
afterAll(() => sandbox.remove());

/** A value as the text of its variable. */
function asVariable(field: Field, value: unknown): string {
  if (field.type === 'text' || field.type === 'integer' || field.type === 'flag') return String(value);
  if (field.type === 'list' && field.items.type === 'text') return Array.isArray(value) ? value.join(',') : '';
  return JSON.stringify(value);
}

describe('precedence', () => {
  test('defaults yield to the file, the file to the environment', async () => {
    const { config } = await sandbox.load('server:\n  complexitylimit: 7\n  maxresultlimit: 8\n', {
      ...leastEnvironment,
      CORE_SERVER_MAXRESULTLIMIT: '9',
    });
    expect(config.server.graphpool.maxworkers).toBe(100);
    expect(config.server.complexitylimit).toBe(7);
    expect(config.server.maxresultlimit).toBe(9);
  });

  test('a list or map of the environment replaces that of the file, it does not add to it', async () => {
    const content = 'server:\n  cors:\n    alloworigins: [https://a.example]\n    prefixes: {/a: ["*"]}\n';
    const { config } = await sandbox.load(content, {
      ...leastEnvironment,
      CORE_SERVER_CORS_ALLOWORIGINS: 'https://b.example, https://c.example',
      CORE_SERVER_CORS_PREFIXES: '{"/b": ["https://b.example"]}',
    });
    expect(config.server.cors.alloworigins).toEqual(['https://b.example', 'https://c.example']);
    expect(config.server.cors.prefixes).toEqual({ '/b': ['https://b.example'] });
  });

  test('the environment does not hide what is wrong in the file', async () => {
    const problems = await sandbox.problems('refreshinterval: 10', {
      ...leastEnvironment,
      CORE_REFRESHINTERVAL: '5000',
    });
    expect(problems.map(({ where }) => where)).toEqual(['c.yaml:1']);
  });

  test('an empty variable sets an empty text, list or map', async () => {
    const { config } = await sandbox.load(
      'server: {metricsport: ":1", cors: {alloworigins: ["*"], prefixes: {/a: ["*"]}}}',
      {
        ...leastEnvironment,
        CORE_SERVER_METRICSPORT: '',
        CORE_SERVER_CORS_ALLOWORIGINS: '',
        CORE_SERVER_CORS_PREFIXES: '',
      },
    );
    expect(config.server.metricsport).toBe('');
    expect(config.server.cors.alloworigins).toEqual([]);
    expect(config.server.cors.prefixes).toEqual({});
  });

  test('a secret comes from the file that its _FILE variable names, without one newline at its end', async () => {
    const file = await sandbox.write('secret', `${'s'.repeat(40)}\n\n`);
    const { config } = await sandbox.load(undefined, { ...leastEnvironment, CORE_SESSIONS_SIGNINGKEY_FILE: file });
    expect(config.sessions.signingkey).toBe(`${'s'.repeat(40)}\n`);
    const url = await sandbox.write('url', 'postgres://core:other@db/core\r\n');
    const { CORE_DB_PRIMARYDBSOURCE: _, ...rest } = leastEnvironment;
    const loaded = await sandbox.load(undefined, { ...rest, CORE_DB_PRIMARYDBSOURCE_FILE: url });
    expect(loaded.config.db.primarydbsource).toBe('postgres://core:other@db/core');
  });

  test('JSON is a configuration file too', async () => {
    const { config, file } = await sandbox.load('{\n\t"server": {\n\t\t"complexitylimit": 7\n\t}\n}');
    expect(config.server.complexitylimit).toBe(7);
    expect(file).toMatch(/c\.yaml$/u);
  });

  test('a byte-order mark, aliases and an object without keys are fine', async () => {
    const content = '\uFEFFratelimit: &limit\n  options: [{requests: 5}]\nratelimitunmatched: *limit\nserver:\n';
    const { config } = await sandbox.load(content);
    const item = { requests: 5, window: 60_000, expiration: 0, flushinterval: 0 };
    expect(config.ratelimitunmatched.options).toEqual([item]);
  });
});

describe('every leaf', () => {
  test('can be set by its variable', async () => {
    for (const { field, path, variable } of leaves) {
      const value = sampleValue(field);
      const loading = new Loading('');
      const unknown = await readEnvironment({ [variable]: asVariable(field, value) }, loading);
      expect(loading.problems, path).toEqual([]);
      expect(unknown, path).toEqual([]);
      expect(loading.settings.get(path), path).toEqual({ value, where: variable });
    }
  });

  test('can be set by a file behind _FILE when it is secret', async () => {
    for (const { field, path, variable, secret } of leaves) {
      if (!secret) continue;
      const value = sampleValue(field);
      const file = await sandbox.write('leaf', `${asVariable(field, value)}\n`);
      const loading = new Loading('');
      await readEnvironment({ [`${variable}_FILE`]: file }, loading);
      expect(loading.problems, path).toEqual([]);
      expect(loading.settings.get(path), path).toEqual({ value, where: `${variable}_FILE` });
    }
  });

  test('keeps the value that the file gives it', () => {
    for (const { field, path, keys } of leaves) {
      const value = sampleValue(field);
      const parsed = parseTree(
        JSON.stringify(
          keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value),
          null,
          1,
        ),
      );
      const loading = new Loading('');
      if (!('tree' in parsed)) throw new Error(`no tree for ${path}`);
      readObject(root, parsed.tree, '', { report: loading.report, where: (line) => `c:${line}` }, loading.settings);
      expect(loading.problems, path).toEqual([]);
      expect(loading.settings.get(path), path).toEqual({ value, where: `c:${keys.length + 1}` });
    }
  });
});

describe('the result', () => {
  test('is frozen through and through', async () => {
    const { config } = await sandbox.load('ratelimit: {options: [{}]}\nserver: {cors: {prefixes: {/a: ["*"]}}}');
    const look = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      expect(Object.isFrozen(value)).toBe(true);
      Object.values(value).forEach(look);
    };
    look(config);
  });

  test('does not depend on what was loaded before', async () => {
    await sandbox.load('ratelimit: {headers: [X-A], options: [{requests: 3}]}');
    const { config } = await sandbox.load('domain: a.example');
    expect(config.ratelimit).toMatchObject({ headers: ['RemoteAddr'], options: [] });
  });

  test('names the fields that are set but have no effect', async () => {
    const { noEffect } = await sandbox.load(
      'jobqueue: {queueconf: {AdvisoryLockPrefix: 5, JobStuckHandler: x, MaxAttempts: 3}}\nedge: {enabled: false}\nserver: {listen: ":1"}',
      {
        ...leastEnvironment,
        CORE_JOBQUEUE_QUEUECONF_LOGGER: '{}',
      },
    );
    expect(noEffect).toEqual([
      'jobqueue.queueconf.AdvisoryLockPrefix',
      'jobqueue.queueconf.JobStuckHandler',
      'edge.enabled',
      'jobqueue.queueconf.Logger',
    ]);
  });
});

describe('API token keys from the environment', () => {
  const enabled = { ...leastEnvironment, CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true' };
  const secret = 's'.repeat(40);

  test('join those of the file', async () => {
    const content = `auth: {token: {apitokens: {keys: {old: {secret: ${secret}, status: deprecated}}}}}`;
    const { config } = await sandbox.load(content, {
      ...enabled,
      CORE_API_TOKEN_KEY_NEW: secret,
      CORE_API_TOKEN_KEY_GONE: `revoked:${secret}`,
      CORE_API_TOKEN_KEY_FILED_FILE: await sandbox.write('key', `deprecated:${secret}\n`),
    });
    expect(config.auth.token.apitokens.keys).toEqual({
      old: { secret, status: 'deprecated' },
      new: { secret, status: 'active' },
      gone: { secret, status: 'revoked' },
      filed: { secret, status: 'deprecated' },
    });
  });

  test('have the prefix that envprefix says', async () => {
    showsWithinConfig('auth.token.apitokens.envprefix');
    const { config } = await sandbox.load('auth: {token: {apitokens: {envprefix: MY_KEY_}}}', {
      ...enabled,
      MY_KEY_A: secret,
    });
    expect(config.auth.token.apitokens.keys).toEqual({ a: { secret, status: 'active' } });
    const problems = await sandbox.problems('auth: {token: {apitokens: {envprefix: MY_KEY_}}}', {
      ...enabled,
      MY_KEY_A: secret,
      CORE_API_TOKEN_KEY_B: secret,
    });
    expect(problems.map(({ where }) => where)).toEqual(['CORE_API_TOKEN_KEY_B']);
  });

  test('are refused when they are short, given twice or unreadable', async () => {
    const content = `auth: {token: {apitokens: {keys: {a: {secret: ${secret}}}}}}`;
    const refused = async (environment: Record<string, string>) =>
      (await sandbox.problems(content, { ...enabled, ...environment })).map(
        ({ where, reason }) => `${where}: ${reason}`,
      );
    expect(await refused({ CORE_API_TOKEN_KEY_B: 'deprecated:short' })).toEqual([
      'CORE_API_TOKEN_KEY_B: is shorter than 32 characters',
    ]);
    expect(await refused({ CORE_API_TOKEN_KEY_A: secret })).toEqual([
      'c.yaml:1: has the key a, and so has a variable beginning with CORE_API_TOKEN_KEY_',
    ]);
    expect(
      await refused({ CORE_API_TOKEN_KEY_B: `deprecated:${secret}`, CORE_API_TOKEN_KEY_b: `deprecated:${secret}` }),
    ).toEqual(['CORE_API_TOKEN_KEY_b: is given twice']);
    expect(await refused({ CORE_API_TOKEN_KEY_B_FILE: '/nonexistent' })).toEqual([
      'CORE_API_TOKEN_KEY_B_FILE: the file it names does not exist',
    ]);
  });
});

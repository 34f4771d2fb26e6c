import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { configFileArgument, loadConfiguration } from '#config/reading/load-configuration.ts';
import { ConfigurationError, exitOnConfigurationError, printProblem } from '#config/schema/config-problem.ts';
import { leastEnvironment, problemsOf, Sandbox } from './configuration-folder.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.make();
});
afterAll(() => sandbox.remove());
afterEach(() => {
  vi.restoreAllMocks();
});

/** The lines that a load prints, without their place for brevity where it is the file. */
async function lines(content: string | Uint8Array, environment?: Record<string, string>): Promise<string[]> {
  return (await sandbox.problems(content, environment)).map(printProblem);
}

describe('a file that cannot be taken apart', () => {
  test.each<[string, string | Uint8Array, string]>([
    ['empty', '', 'c.yaml:1: is empty; copy config/config.example.yaml, or remove the file'],
    ['comments only', '# nothing\n', 'c.yaml:1: is empty; copy config/config.example.yaml, or remove the file'],
    ['a list', '- a\n', 'c.yaml:1: is a list, not an object; write key: value'],
    ['a single text', 'hello', 'c.yaml:1: is a single value, not an object; write key: value'],
    ['not UTF-8', new Uint8Array([0x64, 0xff, 0xfe]), 'c.yaml: is not UTF-8; save it as UTF-8 text'],
    ['NUL byte', 'domain: a\0b', 'c.yaml: contains a NUL byte; save it as UTF-8 text'],
    ['duplicate key', 'server:\n  dev: true\n  dev: false\n', 'c.yaml:3: has the same key twice; remove one of them'],
    ['duplicate key of another type', '1: a\n"1": b\n', 'c.yaml:2: has the same key twice; remove one of them'],
    ['duplicate key in JSON', '{"server":{},"server":{}}', 'c.yaml:1: has the same key twice; remove one of them'],
    ['__proto__', 'server:\n  __proto__:\n    dev: true\n', 'c.yaml:2: has the key __proto__; remove it'],
    ['constructor', '{"constructor": {"prototype": {"x": 1}}}', 'c.yaml:1: has the key constructor; remove it'],
    [
      'two documents',
      'domain: a.example\n---\ndomain: b.example\n',
      'c.yaml:2: contains more than one document; remove the line ---',
    ],
    ['a key that is a list', '? [a, b]\n: c\n', 'c.yaml:1: has a key that is a list or an object; use a text as key'],
    [
      'an alias to itself',
      'server: &x\n  tls: *x\n',
      'c.yaml:2: has an alias that refers to itself; write the value out',
    ],
    ['an alias without anchor', 'server: *x\n', 'c.yaml:1: has an alias without its anchor; write the value out'],
    ['a custom tag', 'domain: !!js/function x\n', 'c.yaml:1: has a tag that is not supported; write the plain value'],
    [
      'a binary value',
      'domain: !!binary aGk=\n',
      'c.yaml:1: has a value that is neither text nor number nor true or false; write the plain value',
    ],
    ['a tab as indent', 'server:\n\tdev: true\n', 'c.yaml:2: is indented with a tab; use spaces'],
    [
      'a line indented more than the one before',
      'server:\n  dev: true\n    listen: x\n',
      'c.yaml:2: has two colons, or the line after it is indented more; indent the fields of one object alike; a text with a colon belongs in quotes',
    ],
    [
      'a forgotten colon',
      'server:\n  dev true\n  listen: x\n',
      'c.yaml:2: lacks a colon, or the space after it; correct the line; long or special texts belong in quotes',
    ],
    [
      'an open quote',
      'domain: "x\n',
      'c.yaml:2: lacks a character (a quote, comma, colon or bracket); correct the line; long or special texts belong in quotes',
    ],
  ])('%s', async (_, content, line) => {
    expect(await lines(content)).toContain(line);
  });

  test('says nothing about missing fields, which may well be in the file', async () => {
    expect(await lines('a: [', {})).toHaveLength(1);
  });

  test('deep nesting and alias bombs end with a problem', async () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) =>
        `a${i}: &a${i} [${Array(9)
          .fill(i === 0 ? 'x' : `*a${i - 1}`)
          .join(',')}]`,
    );
    expect(await lines(levels.join('\n'))).toEqual([expect.stringContaining('counting what aliases repeat')]);
    expect(await lines(`${'['.repeat(200)}${']'.repeat(200)}`)).toEqual([
      expect.stringContaining('is nested too deeply'),
    ]);
    expect((await lines('['.repeat(50_000))).length).toBeGreaterThan(0);
    expect((await lines('{a: '.repeat(50_000))).length).toBeGreaterThan(0);
  });

  test('leaves Object.prototype alone', async () => {
    const before = Object.getOwnPropertyNames(Object.prototype);
    await lines('{"__proto__": {"polluted": 1}, "server": {"__proto__": {"polluted": 1}}}');
    await lines('domain: x', { CORE_SERVER_CORS_PREFIXES: '{"__proto__": ["*"]}', CORE___PROTO___POLLUTED: '1' });
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('a file that cannot be read', () => {
  const load = (file: string) =>
    problemsOf(loadConfiguration({ directory: sandbox.directory, environment: leastEnvironment, file }));

  test('a named file that does not exist is refused', async () => {
    expect((await load('nope.yaml')).map(printProblem)).toEqual([
      'nope.yaml: does not exist; create it, or name another file',
    ]);
  });

  test('a directory is refused', async () => {
    await mkdir(join(sandbox.directory, 'folder'), { recursive: true });
    expect((await load('folder')).map(printProblem)).toEqual(['folder: is a directory; name a file']);
  });

  test('a device, a link to itself and a name without a file are refused', async () => {
    await symlink('loop', join(sandbox.directory, 'loop'));
    expect((await load('/dev/zero')).map(printProblem)).toEqual(['/dev/zero: is not a regular file; name a file']);
    expect((await load('loop')).map(printProblem)).toEqual(['loop: is a link to itself; name a file']);
    expect((await load('')).map(printProblem)).toEqual(['--config: is not a file name; name a file']);
    expect((await load('a\0b'))[0]?.reason).toBe('is not a file name');
  });

  test('a file of more than a megabyte is refused', async () => {
    expect((await lines(`# ${'x'.repeat(1_100_000)}`))[0]).toContain('is larger than 1048576 bytes');
  });

  test('the default file may be missing, but not be wrong', async () => {
    const other = await Sandbox.make();
    const load = () => loadConfiguration({ directory: other.directory, environment: leastEnvironment });
    expect((await load()).file).toBeUndefined();
    await other.write('config/config.yaml', 'servr: 1');
    expect((await problemsOf(load())).map(printProblem)).toEqual([
      'config/config.yaml:1: servr: is not a known key; did you mean server?',
    ]);
    await other.remove();
  });
});

describe('a value that is wrong', () => {
  test.each([
    [
      'refreshinterval: 10',
      'c.yaml:1: refreshinterval = 10: is below the minimum of 1000 milliseconds; the unit is milliseconds: write 1000 to 86400000; for 10 seconds write 10000',
    ],
    [
      'refreshinterval: 15s',
      'c.yaml:1: refreshinterval = "15s": is a text, not a whole number; the unit is milliseconds: write 15000',
    ],
    [
      'refreshinterval: 1h',
      'c.yaml:1: refreshinterval = "1h": is a text, not a whole number; the unit is milliseconds: write 3600000',
    ],
    [
      'refreshinterval: "20000"',
      'c.yaml:1: refreshinterval = "20000": is a text, not a whole number; remove the quotes',
    ],
    [
      'refreshinterval: 600000000000',
      'c.yaml:1: refreshinterval = 600000000000: is above the maximum of 86400000 milliseconds; the unit is milliseconds: write 1000 to 86400000; if it is in nanoseconds write 600000',
    ],
    [
      'refreshinterval: 1500.5',
      'c.yaml:1: refreshinterval = 1500.5: is not a whole number; write a whole number of milliseconds',
    ],
    [
      'refreshinterval: .inf',
      'c.yaml:1: refreshinterval = Infinity: is not a whole number; write a whole number of milliseconds',
    ],
    [
      'refreshinterval: [1]',
      'c.yaml:1: refreshinterval: is a list, not a whole number; write a whole number of milliseconds',
    ],
    ['refreshinterval:', 'c.yaml:1: refreshinterval: is empty; write a value, or remove the key'],
    [
      'db: {maxconnections: 0}',
      'c.yaml:1: db.maxconnections = 0: is below the minimum of 2 connections; write 2 to 10000; 0 does not mean unlimited',
    ],
    [
      'db: {cachettl: 3}',
      'c.yaml:1: db.cachettl = 3: is below the minimum of 100 milliseconds; the unit is milliseconds: write 100 to 3600000; 0 means no result cache; for 3 seconds write 3000',
    ],
    [
      'auth: {token: {refreshoverlap: 900000}}',
      'c.yaml:1: auth.token.refreshoverlap = 900000: is above the maximum of -1000 milliseconds; the unit is milliseconds: write -3600000 to -1000; write -900000',
    ],
    ...(
      [
        ['0', '0: is below the minimum of 1 days; the unit is days: write 1 to 3650'],
        ['-1', '-1: is below the minimum of 1 days; the unit is days: write 1 to 3650'],
        ['30d', '"30d": is a text, not a whole number; the unit is days: write 30'],
        ['4000', '4000: is above the maximum of 3650 days; the unit is days: write 1 to 3650'],
      ] as const
    ).map(([days, problem]): [string, string] => [
      `integrations: {paymentreminder: {deletiondays: ${days}}}`,
      `c.yaml:1: integrations.paymentreminder.deletiondays = ${problem}`,
    ]),
    [
      'server: {dev: yes}',
      'c.yaml:1: server.dev = "yes": is a text, not true or false; write true or false, without quotes',
    ],
    [
      'server: {listen: 17608}',
      'c.yaml:1: server.listen = 17608: is a number, not a text; write it in quotes, like :17608, 127.0.0.1:17608 or [::1]:17608 or unix:/run/core/api.sock',
    ],
    [
      'server: {listen: "17608"}',
      'c.yaml:1: server.listen = "17608": is not :port, host:port, [v6]:port or unix:/path; write it like :17608, 127.0.0.1:17608 or [::1]:17608 or unix:/run/core/api.sock',
    ],
    ['server: {listen: ""}', 'c.yaml:1: server.listen = "": is empty; write a value, or remove the key'],
    [
      'server: [1]',
      'c.yaml:1: server: is a list, not an object; write its keys below it: dev, listen, metricsport, shutdowngraceperiod, readtimeout, writetimeout, idletimeout, readheadertimeout, tls, cors, secure, cachecontrol, …',
    ],
    [
      'server: {cors: {alloworigins: "*"}}',
      'c.yaml:1: server.cors.alloworigins: is a text, not a list; write a list, such as [a, b]',
    ],
    [
      'server: {cors: {alloworigins: [https://a.example/]}}',
      'c.yaml:1: server.cors.alloworigins[0] = "https://a.example/": is not scheme://host[:port] without path and without trailing slash; write it like https://console.example.com',
    ],
    [
      'server: {cors: {alloworigins: [""]}}',
      'c.yaml:1: server.cors.alloworigins[0] = "": is empty; write a value, or remove the key',
    ],
    [
      'server: {cors: {prefixes: [a]}}',
      'c.yaml:1: server.cors.prefixes: is a list, not an object; write an object with one entry per path prefix',
    ],
    [
      'sessions: {samesite: strict}',
      'c.yaml:1: sessions.samesite = "strict": is not one of the allowed values; write Strict; allowed: Lax, Strict, None, Default',
    ],
    [
      'db: {drivername: sqlite}',
      'c.yaml:1: db.drivername = "sqlite": is not one of the allowed values; allowed: postgres, pgx, postgresql',
    ],
    [
      'db: {migrationprovider: goose}',
      'c.yaml:1: db.migrationprovider = "goose": is not one of the allowed values; allowed: mikro-orm',
    ],
    ['domain: "a\\0b"', 'c.yaml:1: domain = "a\\u0000b": contains a NUL character; remove it'],
    [
      'server: {secure: {referrerpolicy: "a\\r\\nb"}}',
      'c.yaml:1: server.secure.referrerpolicy = "a\\r\\nb": is not a header value on one line; write it like nosniff',
    ],
    [
      'ratelimit: {options: [{requests: 1, windo: 60000}]}',
      'c.yaml:1: ratelimit.options[0].windo: is not a known key; did you mean ratelimit.options[0].window?',
    ],
    [
      'jobqueue: {queueconf: {fetchcooldown: 100}}',
      'c.yaml:1: jobqueue.queueconf.fetchcooldown: is not a known key; did you mean jobqueue.queueconf.FetchCooldown?',
    ],
    [
      'jobqueue: {queueconf: {Hooks: [tracing]}}',
      'c.yaml:1: jobqueue.queueconf.Hooks[0] = "tracing": is not one of the allowed values; allowed: logging, metrics',
    ],
    [
      'jobqueue: {queueconf: {Workers: {a: 1}}}',
      'c.yaml:1: jobqueue.queueconf.Workers: must be an object without keys; write {} or remove it',
    ],
    [
      'jobqueue: {queueconf: {PeriodicJobs: [{name: a, schedule: 5000}]}}',
      'c.yaml:1: jobqueue.queueconf.PeriodicJobs[0].workflow: is missing; add it',
    ],
    [
      'jobqueue: {queueconf: {PeriodicJobs: [{name: a, workflow: runIt, schedule: every day}]}}',
      'c.yaml:1: jobqueue.queueconf.PeriodicJobs[0].schedule = "every day": is not a cron expression of five fields: minute, hour, day of the month, month, day of the week; write it like 0 3 * * *',
    ],
    ['server: {metricsprt: x}', 'c.yaml:1: server.metricsprt: is not a known key; did you mean server.metricsport?'],
    ['maxresultlimit: 5', 'c.yaml:1: maxresultlimit: is not a known key; did you mean server.maxresultlimit?'],
    ['backfill: {everything: 1}', 'c.yaml:1: backfill.everything: is not a known key; known keys here: enabled'],
    [
      'auth: {token: {apitokens: {keys: {"a b": {secret: x}}}}}',
      'c.yaml:1: auth.token.apitokens.keys.a…: its key is not a name of letters, digits, dots, dashes and underscores; write the key id as key',
    ],
    ['auth: {token: {apitokens: {keys: {a: {}}}}}', 'c.yaml:1: auth.token.apitokens.keys.a.secret: is missing; add it'],
    [
      'auth: {supportaccess: {subjectid: 01J}}',
      'c.yaml:1: auth.supportaccess.subjectid = "01J": is not a ULID; write it like 01J0000000000000000000000A',
    ],
  ])('%s', async (content, line) => {
    expect(await lines(content)).toEqual([line]);
  });

  test.each([
    ['postgres://core:hunter2@/core', '"postgres://core:***@/core": names no host'],
    ['postgres://core:hunter2@db.example', '"postgres://core:***@db.example": names no database after the host'],
    [
      'postgres://core:hun#ter2@db/core',
      '"postgres://core:***@db/core": is not a URL (special characters of the password must be percent-encoded)',
    ],
    [
      'postgres://core:hun/ter@2@db/core',
      '"postgres://core:***@db/core": is not a URL (special characters of the password must be percent-encoded)',
    ],
    ['mysql://core:hunter2@db/core', '"mysql://core:***@db/core": does not start with postgres://'],
    ['host=db password=hunter2', '(hidden): does not start with postgres://'],
    ['postgres://hunter2', '"postgres://hunter2…": names no database after the host'],
    ['postgres://core:hunter2/core', '"postgres://core…": is not a URL'],
  ])('the database URL %s', async (url, problem) => {
    const [line] = await lines(`db:\n  primarydbsource: ${JSON.stringify(url)}`, without('CORE_DB_PRIMARYDBSOURCE'));
    expect(line).toContain(`c.yaml:2: db.primarydbsource = ${problem}`);
    if (!url.endsWith('//hunter2')) expect(line).not.toMatch(/hunter2|ter2|ter@2/u);
  });

  test.each([
    ['https://temporal.example:7233/default', 'does not start with temporal://'],
    ['temporal://temporal.example/default', 'is not temporal://host:port/namespace'],
    ['temporal://temporal.example:7233', 'is not temporal://host:port/namespace'],
    ['temporal://user:hunter2@temporal.example:7233/default', 'contains credentials, which belong in TEMPORAL_API_KEY'],
  ])('the Temporal address %s', async (uri, reason) => {
    const [line] = await lines(`jobqueue: {connectionuri: "${uri}"}`);
    expect(line).toContain(reason);
    expect(line).not.toContain('hunter2');
  });

  test('the address of the authorization store needs a scheme and no password', async () => {
    const environment = without('CORE_AUTHZ_HOSTURL');
    expect(await lines('authz: {hosturl: "localhost:8080"}', environment)).toEqual([
      expect.stringContaining('does not start with http:// or https://'),
    ]);
    const [line] = await lines('authz: {hosturl: "http://a:hunter2@fga:8080"}', environment);
    expect(line).toContain('"http://a:***@fga:8080": contains a user name or password');
  });
});

function without(variable: keyof typeof leastEnvironment): Record<string, string> {
  const { [variable]: _, ...rest } = leastEnvironment;
  return rest;
}

describe('environment variables that are wrong', () => {
  test.each<[Record<string, string>, string]>([
    [{ CORE_SERVR_LISTEN: 'x' }, 'CORE_SERVR_LISTEN: is not a known variable; did you mean CORE_SERVER_LISTEN?'],
    [{ CORE_server_listen: 'x' }, 'CORE_server_listen: is not a known variable; did you mean CORE_SERVER_LISTEN?'],
    [
      { CORE_SOMETHING_ELSE: 'x' },
      'CORE_SOMETHING_ELSE: is not a known variable; unset it; the name of a variable is CORE_ and the path of a field in upper case, joined with _',
    ],
    [
      { CORE_SERVER_LISTEN_FILE: '/x' },
      'CORE_SERVER_LISTEN_FILE: server.listen: is only accepted for secrets; set CORE_SERVER_LISTEN to the value itself',
    ],
    [
      { CORE_REFRESHINTERVAL: '15s' },
      'CORE_REFRESHINTERVAL: refreshinterval = "15s": is a text, not a whole number; the unit is milliseconds: write 15000',
    ],
    [
      { CORE_REFRESHINTERVAL: '' },
      'CORE_REFRESHINTERVAL: refreshinterval = "": is a text, not a whole number; write a whole number of milliseconds',
    ],
    [
      { CORE_AUTH_ENABLED: 'yes' },
      'CORE_AUTH_ENABLED: auth.enabled = "yes": is a text, not true or false; write true or false, without quotes',
    ],
    [
      { CORE_SERVER_CORS_PREFIXES: '{"/a": [' },
      'CORE_SERVER_CORS_PREFIXES: server.cors.prefixes: is indented wrongly or lacks a closing bracket; write it as JSON',
    ],
    [
      { CORE_SERVER_CORS_PREFIXES: 'a' },
      'CORE_SERVER_CORS_PREFIXES: server.cors.prefixes: is a text, not an object; write an object with one entry per path prefix',
    ],
    [
      { CORE_RATELIMIT_OPTIONS: '[{"requests": 0}]' },
      'CORE_RATELIMIT_OPTIONS: ratelimit.options[0].requests = 0: is below the minimum of 1 requests; write 1 to 10000000',
    ],
    [
      { CORE_RATELIMIT_OPTIONS: '[{"a": 1, "a": 2}]' },
      'CORE_RATELIMIT_OPTIONS: ratelimit.options: has the same key twice; write it as JSON',
    ],
    [
      { CORE_SERVER_CORS_ALLOWORIGINS: 'https://a.example,,' },
      'CORE_SERVER_CORS_ALLOWORIGINS: server.cors.alloworigins[1] = "": is empty; write a value, or remove the key',
    ],
    [
      { CORE_CACHE_PASSWORD_FILE: '/nonexistent/file' },
      'CORE_CACHE_PASSWORD_FILE: cache.password: the file it names does not exist; create it, or name another file',
    ],
    [
      { CORE_CACHE_PASSWORD_FILE: '' },
      'CORE_CACHE_PASSWORD_FILE: cache.password: the file it names is not a file name; name a file',
    ],
    [
      { CORE_CACHE_PASSWORD_FILE: '/', CORE_CACHE_PASSWORD: 'x' },
      'CORE_CACHE_PASSWORD_FILE: cache.password: is set, and so is CORE_CACHE_PASSWORD; unset one of them',
    ],
  ])('%j', async (extra, line) => {
    expect(await lines('domain: example.com', { ...leastEnvironment, ...extra })).toContain(line);
  });
});

describe('reporting', () => {
  test('all problems of file, environment and rules come together', async () => {
    const content = 'servr: 1\nserver:\n  listen: 5\n  tls: {enabled: true}\nauth: {token: {accessduration: 1}}\n';
    const problems = await sandbox.problems(content, { CORE_REFRESHINTERVAL: '5', CORE_X: '1' });
    expect(problems.map(({ where, path }) => `${where} ${path}`.trim())).toEqual([
      'c.yaml:1 servr',
      'c.yaml:3 server.listen',
      'c.yaml:5 auth.token.accessduration',
      'CORE_REFRESHINTERVAL refreshinterval',
      'CORE_X',
      'c.yaml:5 auth.token.kid',
      'c.yaml:5 auth.token.audience',
      'c.yaml:5 auth.token.issuer',
      'c.yaml authz.hosturl',
      'c.yaml db.primarydbsource',
      'c.yaml:4 server.tls.certfile',
      'c.yaml:4 server.tls.certkey',
      'c.yaml sessions.signingkey',
      'c.yaml sessions.encryptionkey',
      'c.yaml totp.secret',
    ]);
  });

  test('a field that is wrong by itself draws no second problem behind it', async () => {
    const problems = await sandbox.problems(
      'auth: {token: {accessduration: 1, refreshduration: 900000}}\ndb: {primarydbsource: 5}',
      without('CORE_DB_PRIMARYDBSOURCE'),
    );
    expect(problems.map(({ path }) => path)).toEqual(['auth.token.accessduration', 'db.primarydbsource']);
  });

  test('a problem stays on one line', async () => {
    const problems = await sandbox.problems('domain: "a\\nb"\n"k\\ney": 1\nserver: {listen: "a\\u2028b\\nc"}');
    expect(problems).toHaveLength(3);
    for (const problem of problems) expect(printProblem(problem)).not.toMatch(/[\r\n]/u);
  });

  test('the error prints every problem', () => {
    const problem = { where: 'c.yaml:1', path: 'a', value: '1', reason: 'is wrong', remedy: 'mend it' };
    expect(new ConfigurationError([problem]).message).toBe(
      'The configuration has a problem:\n  c.yaml:1: a = 1: is wrong; mend it',
    );
    expect(new ConfigurationError([problem, problem]).message).toContain('has 2 problems:');
  });

  test('exitOnConfigurationError prints without a stack and leaves with 1, and throws other errors again', () => {
    const exit = vi.spyOn(process, 'exit').mockImplementation(() => {
      throw new Error('exited');
    });
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const error = new ConfigurationError([{ where: 'x', path: '', reason: 'is wrong', remedy: 'mend it' }]);
    expect(() => exitOnConfigurationError(error)).toThrow('exited');
    expect(exit).toHaveBeenCalledWith(1);
    expect(write).toHaveBeenCalledWith('The configuration has a problem:\n  x: is wrong; mend it\n');
    expect(() => exitOnConfigurationError(new TypeError('other'))).toThrow('other');
  });

  test('--config is found among the arguments', () => {
    expect(configFileArgument(['--queues', 'a'])).toBeUndefined();
    expect(configFileArgument(['--config', 'a.yaml', '--queues', 'a'])).toBe('a.yaml');
    expect(configFileArgument(['--config=a.yaml'])).toBe('a.yaml');
    expect(configFileArgument(['--config'])).toBe('');
  });
});

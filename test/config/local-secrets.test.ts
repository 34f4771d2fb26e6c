import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadConfiguration } from '#config/reading/load-configuration.ts';
import { printProblem } from '#config/schema/config-problem.ts';
import { leastEnvironment, problemsOf, productionEnvironment, Sandbox } from './configuration-folder.ts';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.make();
});
afterEach(() => sandbox.remove());

const load = (environment: Record<string, string> = leastEnvironment) =>
  loadConfiguration({ directory: sandbox.directory, environment });
const stateFile = () => join(sandbox.directory, '.local', 'secrets.json');

describe('secrets in production', () => {
  test.each(['CORE_SESSIONS_SIGNINGKEY', 'CORE_SESSIONS_ENCRYPTIONKEY', 'CORE_TOTP_SECRET'] as const)(
    'start is refused without %s',
    async (variable) => {
      const { [variable]: _, ...rest } = productionEnvironment;
      const [problem, ...others] = await problemsOf(load(rest));
      expect(others).toEqual([]);
      expect(problem).toMatchObject({ reason: 'is missing, but needed because server.dev is off' });
      expect(problem?.remedy).toContain(`${variable} or ${variable}_FILE`);
      await expect(stat(stateFile())).rejects.toThrow('ENOENT');
    },
  );

  test('the TOTP secret is not asked for while TOTP is off', async () => {
    const { CORE_TOTP_SECRET: _, ...rest } = productionEnvironment;
    expect(await problemsOf(load({ ...rest, CORE_TOTP_ENABLED: 'false' }))).toEqual([]);
  });

  test('nothing is generated', async () => {
    await load(productionEnvironment);
    await expect(stat(stateFile())).rejects.toThrow('ENOENT');
  });
});

describe('secrets in development', () => {
  test('are generated once and kept, for the owner only', async () => {
    const first = (await load()).config;
    const second = (await load()).config;
    expect(second.sessions).toEqual(first.sessions);
    expect(second.totp).toEqual(first.totp);
    const all = [first.sessions.signingkey, first.sessions.encryptionkey, first.totp.secret];
    expect(new Set(all).size).toBe(3);
    for (const secret of all) expect(secret.length).toBeGreaterThanOrEqual(64);
    expect((await stat(stateFile())).mode & 0o777).toBe(0o600);
    expect(await readdir(join(sandbox.directory, '.local'))).toEqual(['secrets.json']);
  });

  test('are the same for processes that start together', async () => {
    const loaded = await Promise.all(Array.from({ length: 20 }, () => load()));
    expect(new Set(loaded.map(({ config }) => JSON.stringify([config.sessions, config.totp]))).size).toBe(1);
    expect(await readdir(join(sandbox.directory, '.local'))).toEqual(['secrets.json']);
  });

  test('yield to what is set', async () => {
    const { config } = await load({ ...leastEnvironment, CORE_TOTP_SECRET: 't'.repeat(32) });
    expect(config.totp.secret).toBe('t'.repeat(32));
    expect(config.sessions.signingkey.length).toBeGreaterThanOrEqual(64);
  });

  test('are not generated for a configuration that is refused', async () => {
    expect(await problemsOf(load({ ...leastEnvironment, CORE_REFRESHINTERVAL: '1' }))).toHaveLength(1);
    await expect(stat(stateFile())).rejects.toThrow('ENOENT');
  });

  test.each([
    ['half a file', '{"sessions.signingkey": "', 'is not JSON'],
    ['no secrets', '{}', 'does not contain all secrets'],
    [
      'short secrets',
      '{"sessions.signingkey": "a", "sessions.encryptionkey": "b", "totp.secret": "c"}',
      'does not contain all secrets',
    ],
    ['a list', '[]', 'does not contain all secrets'],
  ])('%s is not replaced silently', async (_, content, reason) => {
    await mkdir(join(sandbox.directory, '.local'));
    await writeFile(stateFile(), content);
    const [problem] = await problemsOf(load());
    expect(problem).toMatchObject({ where: stateFile(), reason });
    expect(await readFile(stateFile(), 'utf8')).toBe(content);
  });

  test('a state folder that cannot be made or written is a problem', async () => {
    await writeFile(join(sandbox.directory, '.local'), 'a file');
    const [problem] = await problemsOf(load());
    expect(problem && printProblem(problem)).toContain('does not exist');
    const dangling = join(sandbox.directory, 'dangling');
    await symlink(join(sandbox.directory, 'nowhere', 'deep'), dangling);
    const other = loadConfiguration({
      directory: sandbox.directory,
      environment: leastEnvironment,
      stateFolder: dangling,
    });
    expect((await problemsOf(other))[0]?.reason).toMatch(/^cannot be written \(E[A-Z]+\)$/u);
  });

  test('a file that may not be read is a problem', async () => {
    await load();
    await chmod(stateFile(), 0o000);
    // Root may read everything.
    const isRoot = process.getuid?.() === 0;
    expect((await problemsOf(load())).map(({ reason }) => reason)).toEqual(isRoot ? [] : ['is not readable']);
  });
});

// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let folder: string;

beforeAll(async () => {
  world = await openWorld();
  folder = await mkdtemp(join(tmpdir(), 'core-'));
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

const instanceAt = (address: string) => world.openInstance({ environment: { CORE_SERVER_LISTEN: address } });

interface SocketAnswer {
  readonly status: number;
  readonly cookies: readonly string[];
  readonly body: string;
}

function ask(path: string, url: string, { method = 'GET', headers = {}, body = '' } = {}): Promise<SocketAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath: path, path: url, method, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.once('end', () =>
        resolve({ status: answer.statusCode ?? 0, cookies: answer.headers['set-cookie'] ?? [], body: text }),
      );
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

test('an address of IPv6', async () => {
  const { url } = await (await instanceAt('[::1]:0')).listen();
  expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/);
  expect((await fetch(`${url}/livez`)).status).toBe(200);
});

describe('a Unix socket', () => {
  test('is where the API answers, as whom it may be asked, and goes with it', async () => {
    const path = join(folder, 'api.sock');
    const instance = await instanceAt(`unix:${path}`);
    const listening = await instance.listen();
    expect(listening.url).toBe(`unix:${path}`);
    const first = await ask(path, '/livez');
    expect(first.status).toBe(200);
    // Attempts are counted by the address of clients, which they do not have here.
    const token = /csrf_token=([^;]+)/.exec(first.cookies.join())?.[1] ?? '';
    const refused = await ask(path, '/v1/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: `csrf_token=${token}`, 'x-csrf-token': token },
      body: JSON.stringify({ username: 'nobody@example.com', password: 'wrong' }),
    });
    expect([refused.status, JSON.parse(refused.body)]).toMatchObject([401, { code: 'invalid_credentials' }]);
    await instance.stopServing();
    expect(existsSync(path)).toBe(false);
  });

  test('that a process has left behind is replaced; one that is answered, and a file, are not', async () => {
    const abandoned = join(folder, 'abandoned.sock');
    const leave = `require('node:net').createServer().listen(${JSON.stringify(abandoned)}, () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', leave]);
    expect(existsSync(abandoned)).toBe(true);
    await (await instanceAt(`unix:${abandoned}`)).listen();
    expect((await ask(abandoned, '/livez')).status).toBe(200);

    const taken = join(folder, 'taken.sock');
    const other = createServer().listen(taken);
    await once(other, 'listening');
    const late = await instanceAt(`unix:${taken}`);
    await expect(late.listen()).rejects.toThrow(/server\.listen is unix:.*, but another process listens there/);
    other.close();

    const file = join(folder, 'file');
    await writeFile(file, 'precious');
    const blocked = await instanceAt(`unix:${file}`);
    await expect(blocked.listen()).rejects.toThrow(/or a file has that name/);
    expect(existsSync(file)).toBe(true);
    const nowhere = await instanceAt(`unix:${join(folder, 'no', 'where')}`);
    await expect(nowhere.listen()).rejects.toThrow(/or its folder does not exist/);
  });
});

import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StartedProduct } from '../kit/started-product.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** The shell blocks of the README from one heading to the next. */
function blocks(heading: string): string[] {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  const section = text.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
  return [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, code]) => code as string);
}

/** Pastes lines into one shell, in a folder that looks like the project, with the `.local` of this start. */
function paste(script: string, name: string): Promise<{ stdout: string }> {
  const folder = join(product.stateDir, name);
  mkdirSync(folder);
  symlinkSync(product.stateDir, join(folder, '.local'));
  for (const file of ['package.json', 'bootstrap.mjs', 'temporal-dev'])
    symlinkSync(join(root, file), join(folder, file));
  const environment = { PATH: process.env['PATH'], HOME: process.env['HOME'], STACK_STATE_DIR: product.stateDir };
  return run('bash', ['-ec', script], { cwd: folder, env: environment });
}

let product: StartedProduct;
beforeAll(async () => {
  product = await StartedProduct.start();
});
afterAll(() => product.stop(), 60_000);

test('the first calls of the README work as pasted, against npm start', async () => {
  const [address, ...calls] = blocks('First calls');
  expect(calls.length).toBeGreaterThanOrEqual(5);
  const script = [
    (address as string).replace(/http:\/\/[0-9.:]+/, product.facts.urls.api),
    ...calls.map((call, index) => `${call}\nprintf '\\n--- %s\\n' ${index}`),
  ].join('\n');
  const { stdout } = await paste(script, 'reader');
  const [livez, registered, mail, verified, signedIn, userinfo, graphql, switched, rest, invited, joined] =
    stdout.split(/\n--- \d+\n/);
  expect(livez).toContain('"status":"up"');
  expect(registered).toMatch(/^HTTP\/1\.1 202/);
  expect(registered).toMatch(/x-request-id: \w+/i);
  expect(mail).toContain('Confirm the address:');
  expect(verified).toContain('you can sign in now');
  expect(signedIn).toContain('"token_type":"Bearer"');
  expect(userinfo).toContain('"email":"you@example.com","email_verified":true');
  expect(graphql).toContain('"displayName":"You"');
  expect(graphql).toContain('"name":"My first organization"');
  expect(switched).toMatch(/"organization_id":"\w{26}"/);
  expect(rest).toContain('"total_count":1');
  expect(invited).toContain('"status":"pending"');
  expect(joined).toContain('you can sign in now');
  expect(joined).toContain('"role":"admin"');
});

test('every address of ready.json answers, and so do the three printed calls', async () => {
  for (const [name, url] of Object.entries(product.facts.urls)) {
    const answer = await fetch(url, { redirect: 'manual' });
    const isFine = answer.status < 400 || (name === 'graphql' && answer.status === 400);
    expect(isFine, `${name} ${url} answered ${answer.status}`).toBe(true);
  }
  const printed = product.output.slice(product.output.indexOf('curl -sS -c'));
  const { stdout } = await paste(printed, 'reader-of-the-block');
  expect(stdout).toContain('"displayName":"Ada Acme"');
});

test('the block names all people of the demo, their roles and their password', async () => {
  const { people, password } = product.facts.demo;
  expect(people).toHaveLength(4);
  expect(product.output).toContain(`password ${password}`);
  expect(product.output).toMatch(/ben@acme\.example +admin of Acme, member of Globex\n/);
  for (const { email } of people) {
    expect(product.output).toContain(email);
    expect(await product.query('{ self { email } }', email)).toEqual({ self: { email } });
  }
});

test('a start beside it in the same folder is refused, and leaves its ports and facts alone', async () => {
  const files = ['ready.json', 'product-ports.json'].map((name) => join(product.stateDir, name));
  const held = files.map((file) => readFileSync(file, 'utf8'));
  const environment = { PATH: process.env['PATH'], HOME: process.env['HOME'], STACK_STATE_DIR: product.stateDir };
  const refused = run(process.execPath, ['temporal-dev/start-main.ts'], { cwd: root, env: environment });
  await expect(refused).rejects.toMatchObject({
    code: 1,
    // That one reason, and nothing about ports that it would move to.
    stderr: expect.stringMatching(/^start: the servers in .* are in use by .*: stop it first\n$/),
  });
  expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(held);
});

test('a second start finds its demo and adds nothing', async () => {
  const before = await product.query('{ users { edges { node { id } } } organizations { edges { node { id } } } }');
  await product.restart();
  expect(await product.query('{ users { edges { node { id } } } organizations { edges { node { id } } } }')).toEqual(
    before,
  );
});

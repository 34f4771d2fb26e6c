import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { codeBlocks, ReaderShell } from '../kit/records/reader-shell.ts';
import { ProductProcess } from '../kit/processes/spawned-process.ts';
import { StartedProduct } from '../kit/processes/started-product.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

let product: StartedProduct;
beforeAll(async () => {
  product = await StartedProduct.start([], { CORE_INTEGRATIONS_OIDCLOCAL_ENABLED: 'true' });
});
afterAll(() => product.stop(), 60_000);

test('the ten calls of README and those of docs/first-hour.md work as pasted, against npm start', async () => {
  const [address = '', ...ten] = codeBlocks('README.md', 'sh', 'Ten calls');
  expect(ten.join('').match(/\bcurl /g)).toHaveLength(10);
  const shell = new ReaderShell(product.stateDir, 'reader');
  await shell.run(address.replace(/http:\/\/[0-9.:]+/, product.facts.urls.api));
  const said: string[] = [];
  for (const call of [...ten, ...codeBlocks('docs/first-hour.md', 'sh')]) said.push(await shell.run(call));
  const organization = await shell.run('echo $ORGANIZATION');
  await shell.close();
  // No call is refused.
  for (const answer of said) expect(answer).not.toContain('/docs/errors#');
  const [livez, registered, verified, signedIn, userinfo, , switched, created, found] = said;
  const [listed, searched, invited, joined, shared, devices] = said.slice(ten.length);
  expect(livez).toContain('"status":"up"');
  expect(registered).toContain('"message"');
  expect(verified).toContain('you can sign in now');
  expect(signedIn).toContain('"token_type":"Bearer"');
  expect(userinfo).toContain('"email":"you@example.com","email_verified":true');
  expect(organization).toMatch(/^\w{26}\n/);
  expect(switched).toContain(`"organization_id":"${organization.trim()}"`);
  expect(created).toContain('"title":"Renew the certificate"');
  expect(found).toContain('"title":"Renew the certificate"');
  expect(found).toContain('"operation":"CREATED"');
  expect(listed).toContain('"total_count":1');
  expect(searched?.match(/"title":"Renew the certificate"/g)).toHaveLength(2);
  expect(invited).toContain('"status":"pending"');
  expect(joined).toContain('you can sign in now');
  expect(joined).toContain('"role":"admin"');
  expect(shared?.match(/"relation":"viewer"/g)).toHaveLength(2);
  expect(devices).toContain('"user_agent":"curl');
  expect(devices).toContain('Signed out of');
});

test('the calls of docs/integrations.md connect two directories and read and push people, against npm start', async () => {
  const shell = new ReaderShell(product.stateDir, 'integrations');
  const blocks = codeBlocks('docs/integrations.md', 'sh').map((block) =>
    block.replace('http://127.0.0.1:17608', product.facts.urls.api),
  );
  expect(blocks).toHaveLength(10);
  const said: string[] = [];
  for (const block of blocks) {
    // The pauses that the page asks for.
    if (block.includes('integration-runs?') || block.includes('provisioning=waiting')) await pause(5_000);
    said.push(await shell.run(block));
  }
  const secret = (await shell.run('echo $SECRET')).trim();
  await shell.close();
  const [offered, connected, ways, operated, read, pushed, changed, primary, waiting, roles] = said;
  expect(offered).toContain('"id":"scim"');
  expect(ways).toMatch(/^200 .*\/v1\/integrations\/connected$/m);
  expect(operated).toContain('"email":"person@example.com"');
  expect(read).toContain('"status":"succeeded"');
  expect(read).toContain('"display_name":"A Person"');
  expect(read).toContain('"status":"queued"');
  expect(connected).toContain('"status":"connected"');
  // The secret is shown once.
  expect(secret.length).toBeGreaterThan(20);
  expect(said.filter((text) => text.includes(secret))).toEqual([connected]);
  expect(pushed?.match(/"userName":"ann@example.com"/g)).toHaveLength(2);
  expect(pushed).toContain('"totalResults":1');
  expect(changed).toContain('"active":false');
  expect(changed).toContain('"is_active":false');
  expect(changed).toContain('"email":"ann@example.com"');
  expect(primary).toContain('"is_primary_directory":true');
  expect(waiting).toContain('Publish the TXT record _core-single-sign-on.example.com');
  expect(roles).toContain('"roleGroups"');
});

test('every address of ready.json answers, and so do the three printed calls', async () => {
  for (const [name, url] of Object.entries(product.facts.urls)) {
    const answer = await fetch(url, { redirect: 'manual' });
    const isFine = answer.status < 400 || (name === 'graphql' && answer.status === 400);
    expect(isFine, `${name} ${url} answered ${answer.status}`).toBe(true);
  }
  const printed = product.output.slice(product.output.indexOf('curl -sS -c'));
  const shell = new ReaderShell(product.stateDir, 'reader-of-the-block');
  expect(await shell.run(printed)).toContain('"displayName":"Ada Acme"');
  await shell.close();
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

test('the production configuration of docs/installing.md starts an API, with addresses of servers that exist', async () => {
  const folder = join(product.stateDir, 'production');
  mkdirSync(folder);
  const inFolder = (text: string) => text.replaceAll('/etc/core', folder);
  const shell = new ReaderShell(product.stateDir, 'operator');
  for (const block of codeBlocks('docs/installing.md', 'sh', 'Production')) await shell.run(inFolder(block));
  const variables = (await shell.run('env | grep ^CORE_')).split('\n').map((line) => line.split('=', 2));
  await shell.close();

  const local = JSON.parse(readFileSync(join(product.stateDir, 'environment.json'), 'utf8')) as {
    readonly variables: Readonly<Record<string, string>>;
  };
  const [configuration = ''] = codeBlocks('docs/installing.md', 'yaml', 'Production');
  const written = inFolder(configuration)
    .replace(/postgres:[^']+/, local.variables['CORE_DB_PRIMARYDBSOURCE'] ?? '')
    .replace(/temporal:[^']+/, local.variables['CORE_JOBQUEUE_CONNECTIONURI'] ?? '')
    .replace('https://openfga.example', local.variables['CORE_AUTHZ_HOSTURL'] ?? '');
  const file = join(folder, 'config.yaml');
  writeFileSync(file, written);

  const api = new ProductProcess({
    program: 'api/api-main.ts',
    args: ['--config', file],
    environment: {
      ...(Object.fromEntries(variables) as Record<string, string>),
      STACK_STATE_DIR: folder,
      // The ports of the configuration may be in use here.
      CORE_SERVER_LISTEN: '127.0.0.1:0',
      CORE_SERVER_METRICSPORT: '',
    },
  });
  await api.ready;
  const answer = await fetch(`${await eventually(() => api.url !== '' && api.url)}/readyz`);
  expect(answer.status, await answer.text()).toBe(200);
  expect(answer.headers.getSetCookie().join()).toContain('Secure');
  expect(api.logs.filter((line) => line['level'] !== 'info')).toEqual([]);
  expect(await api.stop()).toEqual({ code: 0, signal: null });
});

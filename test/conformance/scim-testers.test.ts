// Left to npm run prove; npm test has test/api/integrations/scim-tester-requests.test.ts.
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRecordingProxy, type RecordingProxy } from '../kit/integrations/recording-proxy.ts';
import { StartedProduct } from '../kit/processes/started-product.ts';

const own = join(import.meta.dirname, 'scim');

/**
 * scim-sanity adds a member that does not exist, and calls the refusal a deviation: "accept member ids without existence validation, or
 * document the constraint". This service refuses unknown members, as docs/integrations.md says.
 */
const documented = new Set(['PATCH /Groups/{id} add member']);

let product: StartedProduct;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'core-scim-'));
  const packages = ['install', '--quiet', '--target', folder, '--requirement', join(own, 'requirements.txt')];
  await promisify(execFile)('python3', ['-m', 'pip', ...packages]);
  product = await StartedProduct.start();
}, 300_000);
afterAll(async () => {
  await product.stop();
  await rm(folder, { recursive: true });
}, 60_000);

interface Connected {
  readonly webhookEndpointUrl: string;
  readonly webhookSecret: string;
}

/** Connects a directory and has it judged by a tester, whose requests are kept in `.local` for samples of them. */
async function judged(name: string, judge: (url: string, token: string) => Promise<string>): Promise<string> {
  const connected = (await product.query(
    `mutation { configureIntegration(definitionId: "scim", name: "${name}") { webhookEndpointUrl webhookSecret } }`,
  )) as { readonly configureIntegration: Connected };
  const { webhookEndpointUrl: target, webhookSecret: token } = connected.configureIntegration;
  const proxy: RecordingProxy = await startRecordingProxy(target);
  try {
    return await judge(proxy.url, token);
  } finally {
    await proxy.close();
    await writeFile(join('.local', `${name}.json`), JSON.stringify(proxy.requests, null, 2));
  }
}

test('scim2-tester finds nothing', { timeout: 300_000 }, async () => {
  const output = await judged('scim2-tester', (url, token) =>
    python([join(own, 'check_server.py'), url], `${token}\n`),
  );
  expect(output.split('\n').filter((line) => /^(?:DEVIATION|ERROR|CRITICAL|Traceback)/.test(line))).toEqual([]);
  expect(Number(/^(\d+) checks$/m.exec(output)?.[1])).toBeGreaterThan(100);
});

test('scim-sanity finds nothing but what is documented', { timeout: 300_000 }, async () => {
  const output = await judged('scim-sanity', (url, token) =>
    python(['-m', 'scim_sanity', 'probe', url, '--token', token, '--i-accept-side-effects', '--json-output'], ''),
  );
  const { results } = JSON.parse(output.slice(output.indexOf('{'))) as {
    readonly results: readonly { readonly name: string; readonly status: string; readonly message: string }[];
  };
  const failed = results.filter(({ status }) => !['pass', 'skip'].includes(status.toLowerCase()));
  expect(failed.filter(({ name }) => !documented.has(name))).toEqual([]);
  expect(results.length).toBeGreaterThan(25);
});

/** @returns what it printed */
async function python(args: readonly string[], input: string): Promise<string> {
  const child = spawn('python3', args, {
    env: { ...process.env, PYTHONPATH: folder },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(input);
  return text(child.stdout);
}

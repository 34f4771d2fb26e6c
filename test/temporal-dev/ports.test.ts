// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { createServer, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { productPorts, rememberPorts } from '#temporal-dev/product/product-ports.ts';
import { readState } from '#temporal-dev/servers/stack-state.ts';
import { readStackEnvironment } from '#temporal-dev/machine/stack-environment.ts';
import { claimPort, LOOPBACK, type PortClaim } from '#temporal-dev/machine/ports.ts';
import { startTestStack, temporaryDirectory } from './stack-fixture.ts';

const claim = (
  stateDir: string,
  options: { variables?: Record<string, string>; remembered?: number; report?: (line: string) => void } = {},
): Promise<PortClaim> =>
  claimPort(
    { name: 'postgres', remembered: options.remembered, report: options.report ?? (() => {}) },
    { stateDir, environment: readStackEnvironment(options.variables ?? {}, stateDir), shouldUseDefaultPorts: false },
  );

async function occupiedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, LOOPBACK, resolve);
  });
  onTestFinished(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test('a busy configured port is refused, naming the variable and who holds the port', async () => {
  const port = await occupiedPort();
  await expect(claim('/a', { variables: { STACK_POSTGRES_PORT: String(port) } })).rejects.toThrow(
    `port ${port} (STACK_POSTGRES_PORT) is in use by`,
  );
  await expect(claim('/a', { variables: { STACK_POSTGRES_PORT: String(port) } })).rejects.toThrow(
    new RegExp(`\\(pid ${process.pid}\\): stop it, or set STACK_POSTGRES_PORT to a free port`),
  );
});

test.each(['0', '65536', 'abc', '1.5'])('%s is not a port', (value) => {
  expect(() => readStackEnvironment({ STACK_REDIS_PORT: value }, '/a')).toThrow(
    `STACK_REDIS_PORT is "${value}": set a port from 1 to 65535, or unset it`,
  );
});

test('a configured free port is taken as it is', async () => {
  const free = await claim('/a');
  await free.release();
  const taken = await claim('/b', { variables: { STACK_POSTGRES_PORT: String(free.port) } });
  expect(taken.port).toBe(free.port);
  await taken.release();
});

test('a remembered port is kept, and given up with a word about it once somebody else has it', async () => {
  const first = await claim('/a');
  await first.release();
  const again = await claim('/b', { remembered: first.port });
  expect(again.port).toBe(first.port);
  await again.release();
  const busy = await occupiedPort();
  const lines: string[] = [];
  const moved = await claim('/b', { remembered: busy, report: (line) => lines.push(line) });
  expect(moved.port).not.toBe(busy);
  expect(lines).toEqual([expect.stringContaining(`port ${busy} is in use by`)]);
  await moved.release();
});

test('two folders that start at the same time never choose the same port', async () => {
  // The same folder name makes both search from the same place, the worst case.
  const claims = await Promise.all(Array.from({ length: 10 }, () => claim('/the/same')));
  expect(new Set(claims.map(({ port }) => port)).size).toBe(10);
  await Promise.all(claims.map(({ release }) => release()));
});

test('a port that was configured once is not remembered for later runs', async () => {
  const stateDir = temporaryDirectory();
  const usual = {
    api: 12_345,
    metrics: 12_346,
    codec: 12_347,
    workerMetrics: 12_348,
    payment: 12_350,
    identity: 12_351,
  };
  rememberPorts(stateDir, usual);
  const configured = { api: 12_349 };
  rememberPorts(stateDir, await productPorts(stateDir, configured, () => {}), configured);
  expect(await productPorts(stateDir, {}, () => {})).toEqual(usual);
});

test('a configured port of a server of the stack is not remembered either', async () => {
  const stateDir = temporaryDirectory();
  const port = await claim(stateDir);
  await port.release();
  const options = { stateDir, without: ['postgres', 'temporal', 'openfga'], redis: true } as const;
  const stack = await startTestStack({
    ...options,
    variables: { ...process.env, STACK_REDIS_PORT: String(port.port) },
  });
  expect(new URL(stack.redis?.url ?? '').port).toBe(String(port.port));
  expect(readState(stateDir).ports).toEqual({});
  await stack.stop();
});

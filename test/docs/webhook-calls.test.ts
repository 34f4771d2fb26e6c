import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verified } from '../kit/events/created-endpoint.ts';
import { eventually } from '../kit/eventually.ts';
import type { ReceivedMessage } from '../kit/fakes/webhook-sink.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { codeBlocks, ReaderShell } from '../kit/records/reader-shell.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let shell: ReaderShell;
let url: string;
beforeAll(async () => {
  world = await openWorld({ worker: true, environment: { CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true' } });
  ({ url } = await world.listen());
  shell = new ReaderShell(dirname(world.mailFolder), 'reader');
});
afterAll(async () => {
  await shell?.run('kill $(jobs -p)\n').catch(() => {});
  await shell?.close();
  await world.close();
});

/** A port of this machine where nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('an endpoint, a change, its delivery and a replay are as the page says', async () => {
  const client = await signedIn(world, await buildPerson(world));
  await shell.run(`API=${url}\nTOKEN=${client.cookies.get('access_token')}\n`);
  const port = await freePort();
  const blocks = codeBlocks('docs/webhooks.md', 'sh', 'First calls').map((block) =>
    block.replaceAll('4100', String(port)),
  );
  expect(blocks).toHaveLength(4);
  const [receiver = '', create = '', change = '', again = ''] = blocks;
  await shell.run(receiver);
  const endpoint = JSON.parse(await shell.run(create)) as { id: string; secret: string };
  expect(endpoint).toMatchObject({ name: 'first', status: 'enabled', secret: expect.stringMatching(/^whsec_/) });
  await shell.run(change);
  const received = () =>
    readFileSync(join(dirname(world.mailFolder), 'received.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ReceivedMessage);
  const [first, ...others] = received();
  expect(others).toEqual([]);
  const id = verified(first!, endpoint.secret, new Date());
  expect(JSON.parse(first!.body)).toMatchObject({ type: 'task.created', data: { kind: 'task', version: 1 } });
  await eventually(
    async () => (await client.get(`/v1/webhook-endpoints/${endpoint.id}/attempts`)).body.data.length === 1,
  );
  const [messages = '', attempts = '', replay = ''] = (await shell.run(again)).split(/(?<=\})(?=\{)/);
  expect(JSON.parse(messages).data).toMatchObject([{ event_id: id, type: 'task.created', status: 'delivered' }]);
  expect(JSON.parse(attempts).data).toMatchObject([{ event_id: id, number: 1, status: 204, problem: null }]);
  expect(JSON.parse(replay)).toEqual({ replayed_count: 1, next: null });
  await eventually(() => received().length === 2);
  expect(verified(received()[1]!, endpoint.secret, new Date())).toBe(id);
});

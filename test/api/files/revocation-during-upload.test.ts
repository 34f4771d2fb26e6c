import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { membership, task } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { parseAnswer, RawConnection, type RawAnswer } from '../../kit/http/raw-http.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let url: string;
beforeAll(async () => {
  world = await openWorld();
  ({ url } = await world.listen());
});
afterAll(() => world.close());

function asSystem<T>({ organization }: Person, work: (data: DataClient) => Promise<T>): Promise<T> {
  const context = { caller: systemCaller('test', organization.id), requestId: newId() };
  return world.runtime.database.transact(context, ({ data }) => work(data));
}

/** An administrator's change and query, of which the server has everything but the end of the body. */
async function heldBack() {
  const owner = await buildPerson(world);
  const leaver = await buildPerson(world, { organization: owner.organization, role: 'super_admin' });
  const secret = await asSystem(owner, (data) => data.create(task, { title: 'secret', assignerId: owner.user.id }));
  const client = await signedIn(world, leaver);
  const begin = async (target: string, content: object): Promise<() => Promise<RawAnswer>> => {
    const body = JSON.stringify(content);
    const connection = new RawConnection(url);
    const arrived = once(world.api.app.server, 'request');
    connection.write(
      `${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.cookies.get('access_token')}\r\n` +
        `Content-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 3)}`,
    );
    await arrived;
    return async () => {
      connection.write(body.slice(3));
      return parseAnswer(await connection.untilClosed());
    };
  };
  return {
    leaver,
    client,
    write: await begin(`PATCH /v1/tasks/${secret.id}`, { title: 'written by a leaver' }),
    read: await begin('POST /graphql', { query: '{ tasks { edges { node { title } } } }' }),
    titleNow: () => asSystem(owner, async (data) => (await data.get(task, secret.id)).title),
  };
}

test('a membership that ends before the body has come gives no rights', async () => {
  const { leaver, write, read, titleNow } = await heldBack();
  await asSystem(leaver, async (data) => {
    const held = await data.findOne(membership, { userId: { eq: leaver.user.id } });
    await data.remove(membership, held?.id ?? '');
  });
  for (const finish of [write, read]) {
    const { code, errors } = JSON.parse((await finish()).body);
    expect(code ?? errors[0].extensions.code).toBe('no_current_organization');
  }
  expect(await titleNow()).toBe('secret');
});

test('a token that is revoked before the body has come is refused', async () => {
  const { client, write, read, titleNow } = await heldBack();
  expect((await client.post('/v1/logout')).status).toBeLessThan(300);
  for (const finish of [write, read]) {
    const { status, body } = await finish();
    const { code, errors } = JSON.parse(body);
    expect({ status, code: code ?? errors[0].extensions.code }).toEqual({ status: 401, code: 'unauthenticated' });
  }
  expect(await titleNow()).toBe('secret');
});

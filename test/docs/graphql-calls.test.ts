import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPerson, signedIn } from '../kit/people.ts';
import { codeBlocks, ReaderShell } from '../kit/records/reader-shell.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let shell: ReaderShell;
let url: string;
beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_SERVER_ENABLEGRAPHEXTENSIONS: 'true', CORE_SERVER_ENABLEGRAPHSUBSCRIPTIONS: 'true' },
  });
  ({ url } = await world.listen());
  shell = new ReaderShell(dirname(world.mailFolder), 'reader');
});
afterAll(async () => {
  await shell?.close();
  await world.close();
});

test('the calls do what the page says', async () => {
  const person = await buildPerson(world);
  const client = await signedIn(world, person);
  await shell.run(`API=${url}\nTOKEN=${client.cookies.get('access_token')}\n`);
  const [
    define = '',
    create = '',
    list = '',
    change = '',
    find = '',
    explain = '',
    cost = '',
    hash = '',
    subscription = '',
    ...more
  ] = codeBlocks('docs/graphql.md', 'sh');
  expect(more).toEqual([]);
  await shell.run(define);
  expect(JSON.parse(await shell.run(create))).toMatchObject({
    data: { createTask: { task: { status: 'OPEN', recordVersion: 1 } } },
  });
  expect(JSON.parse(await shell.run(list))).toMatchObject({
    data: { tasks: { totalCount: 1, pageInfo: { hasNextPage: false } } },
  });
  expect(JSON.parse(await shell.run(change))).toMatchObject({
    data: { updateTask: { task: { status: 'COMPLETED', recordVersion: 2 } } },
  });
  expect(JSON.parse(await shell.run(find))).toMatchObject({
    data: { tasks: { totalCount: 1 }, taskSearch: { edges: [{ node: { title: 'Collect evidence' } }] } },
  });
  expect(JSON.parse(await shell.run(explain))).toMatchObject({
    data: { explainAccess: { isAllowed: true, reason: null } },
  });
  expect(JSON.parse(await shell.run(cost))).toMatchObject({
    data: { tasks: { edges: [{ node: { title: 'Collect evidence' } }] } },
    extensions: {
      request_id: expect.any(String),
      cost: { fields: 4, fields_limit: 100, records: 10 },
      timing: { waited_ms: expect.any(Number), duration_ms: expect.any(Number) },
      statements: expect.any(Number),
    },
  });
  const lines = hash.trim().split('\n');
  await shell.run(`${lines.slice(0, 3).join('\n')}\n`);
  const [unknown, registered, known, ...others] = lines.slice(3);
  expect(others).toEqual([]);
  const answer = async (call = '') => JSON.parse(await shell.run(`${call}\n`)) as object;
  expect(await answer(unknown)).toMatchObject({ errors: [{ extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }] });
  const data = { self: { id: person.user.id } };
  expect(await answer(registered)).toMatchObject({ data });
  expect(await answer(known)).toMatchObject({ data });
  const told = await shell.run(subscription);
  expect(told).toContain('event: next');
  expect(told).toContain('"operation":"POSITION"');
});

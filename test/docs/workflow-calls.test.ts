import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { codeBlocks, ReaderShell } from '../kit/records/reader-shell.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let shell: ReaderShell;
let url: string;
beforeAll(async () => {
  // An expression that takes longer on a busy machine would be a failure.
  world = await openWorld({
    worker: true,
    environment: { CORE_WORKFLOWS_ENABLED: 'true', CORE_WORKFLOWS_CEL_TIMEOUT: '60000' },
  });
  ({ url } = await world.listen());
  shell = new ReaderShell(dirname(world.mailFolder), 'reader');
});
afterAll(async () => {
  await shell?.close();
  await world.close();
});

test('the calls of the example hold a task until two of the group approve', async () => {
  const owner = await buildPerson(world);
  const client = await signedIn(world, owner);
  const colleague = () => buildPerson(world, { organization: owner.organization, role: 'member' });
  const [ann, ben, member] = [await colleague(), await colleague(), await colleague()];
  const group = await client.post('/v1/groups', { name: 'Security' });
  for (const { user } of [ann, ben])
    await client.post('/v1/group-memberships', { group_id: group.body.id, user_id: user.id });
  const memberClient = await signedIn(world, member);
  const task = await memberClient.post('/v1/tasks', { title: 'Rotate the keys' });
  const tokenOf = async (person: typeof ann) => (await signedIn(world, person)).cookies.get('access_token');
  await shell.run(
    `API=${url}\nTOKEN=${client.cookies.get('access_token')}\nSECURITY=${group.body.id}\nTASK=${task.body.id}\n`,
  );
  await shell.run(`MEMBER=${memberClient.cookies.get('access_token')}\n`);

  const [create = '', attempts = '', publish = '', share = '', change = '', decide = '', ...more] = codeBlocks(
    'docs/workflows.md',
    'sh',
    'An example',
  );
  expect(more).toEqual([]);
  const definition = JSON.parse(await shell.run(create));
  expect(definition, JSON.stringify(definition)).toMatchObject({ status: 'draft' });
  await shell.run(`DEFINITION=${definition.id}\n`);

  const [attempt = '', dryRun = '', result = ''] = commandsOf(attempts);
  expect(JSON.parse(await shell.run(attempt))).toMatchObject({
    starts: true,
    holds: true,
    actions: [{ user_ids: [ann.user.id, ben.user.id].toSorted() }],
  });
  await shell.run(`RUN=${JSON.parse(await shell.run(dryRun)).id}\n`);
  await eventually(async () => JSON.parse(await shell.run(result)).status === 'completed');

  expect(JSON.parse(await shell.run(publish))).toMatchObject({ status: 'published', published_version: 1 });

  expect(JSON.parse(await shell.run(share))).toMatchObject({ relation: 'viewer' });
  const [complete = '', proposals = ''] = commandsOf(change);
  await shell.run(complete);
  expect(JSON.parse(await shell.run(proposals)).data).toMatchObject([
    { status: 'submitted', changes: { status: 'completed' } },
  ]);
  const status = async () => (await memberClient.get(`/v1/tasks/${task.body.id}`)).body.status;
  expect(await status()).toBe('open');

  const [mine = '', approve = ''] = commandsOf(decide);
  for (const person of [ann, ben]) {
    expect(await status()).toBe('open');
    await shell.run(`ANN=${await tokenOf(person)}\n`);
    await eventually(async () => JSON.parse(await shell.run(mine)).data.length === 1);
    const [{ id, label }] = JSON.parse(await shell.run(mine)).data;
    expect(label).toBe('May this task be completed?');
    await shell.run(`ASSIGNMENT=${id}\n`);
    expect(JSON.parse(await shell.run(approve))).toMatchObject({ status: 'approved' });
  }
  await eventually(async () => (await status()) === 'completed');
});

/** The commands of a block: lines that end with a backslash continue. */
function commandsOf(block: string): string[] {
  return block
    .trim()
    .split(/(?<!\\)\n/)
    .map((command) => `${command}\n`);
}

// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger, standardOutput } from '#runtime/logger.ts';
import { prettyLine } from '#runtime/pretty-line.ts';
import { eventually } from '../../kit/eventually.ts';
import { notingListener } from '../../kit/events/event-fixtures.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

const listener = notingListener('refusing', ['task.created'], () => {
  if (isBroken) throw new Error('broken');
});
let isBroken = true;

let world: World;
let person: Person;
let client: TestClient;
beforeAll(async () => {
  world = await openWorld({ worker: true, listeners: [listener] });
  person = await buildPerson(world);
  client = await signedIn(world, person);
});
afterAll(() => world.close());

test('lines of a request and of what follows from it have the ids of request, trace, organization and workflow', async () => {
  const created = await client.post('/v1/tasks', { title: 'a secret title' });
  const requestId = created.headers['x-request-id'];
  const about = (msg: string) =>
    eventually(() => world.logs.find((line) => line['request_id'] === requestId && line['msg'] === msg));
  const request = await about('request');
  const organizationId = person.organization.id;
  expect(request).toMatchObject({ organization_id: organizationId, subject: person.user.id, route: '/v1/tasks' });
  const failed = await about('a listener failed');
  isBroken = false;
  expect(failed).toMatchObject({ trace_id: request['trace_id'], listener: 'refusing' });
  expect(failed['workflow_id']).toMatch(new RegExp(`^${world.name}/`));
  await eventually(async () => (await client.get('/v1/event-deliveries?status=failing')).body.data.length === 0);
  expect(JSON.stringify(world.logs)).not.toContain('a secret title');
});

describe('standard output', () => {
  async function written(isTerminal: boolean, isDevelopment: boolean): Promise<string> {
    let text = '';
    const output = standardOutput({ isTerminal, write: (more) => (text += more) });
    const logger = createLogger('api', {}, output);
    if (isDevelopment) output.showToPeople();
    logger.warn({ request_id: 'r-1', password: 'hunter2', duration_ms: 1.5 }, 'something is odd');
    output.flushSync();
    return text;
  }

  test.each([
    [false, false],
    [true, false],
    [false, true],
  ])('is JSON unless a terminal shows it in development (%s, %s)', async (isTerminal, isDevelopment) => {
    const line = JSON.parse(await written(isTerminal, isDevelopment)) as Record<string, unknown>;
    expect(line).toMatchObject({ level: 'warn', service: 'api', request_id: 'r-1', msg: 'something is odd' });
    expect(line['password']).toBe('[secret]');
  });

  test('is for people there, with every field and without secrets', async () => {
    const line = await written(true, true);
    expect(line.slice(0, 12)).toMatch(/^\d\d:\d\d:\d\d\.\d{3}$/);
    expect(line.slice(12)).toBe(
      ' \u001B[33mWARN \u001B[0m api something is odd request_id=r-1 password="[secret]" duration_ms=1.5\n',
    );
  });
});

describe('a line for people', () => {
  test('has the stack of its error below', () => {
    const err = { type: 'Error', message: 'broken', stack: 'Error: broken\n    at here' };
    const line = prettyLine(JSON.stringify({ level: 'error', time: '2026-01-02T03:04:05.678Z', msg: 'failed', err }));
    expect(line.split('\n').slice(1, 3)).toEqual(['    Error: broken', '        at here']);
  });

  test('has no control characters of values, which could forge lines', () => {
    const msg = 'a\u001B[2Jb\r\u0007c';
    const line = prettyLine(
      JSON.stringify({ level: 'info', time: '2026-01-02T03:04:05.678Z', msg, to: 'x\u001B[1my' }),
    );
    expect(line).toBe('03:04:05.678 INFO  a[2Jbc to="x[1my"\n');
  });

  test('that is no JSON stays as it is', () => {
    expect(prettyLine('a stack\n')).toBe('a stack\n');
  });
});

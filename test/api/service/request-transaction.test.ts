import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callerOf } from '#entities/kit/model/caller.ts';
import type { ErrorCode } from '#entities/kit/base/errors.ts';
import { armFailpoints } from '#entities/kit/base/failpoint.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { organizationRoute, type Outcome } from '../../kit/http/misbehaving-routes.ts';
import { buildPerson, signedIn, testPassword } from '../../kit/people.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import type { TestAnswer } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld({
    routes: [
      organizationRoute(async (pid) => {
        await asOwner(world, 'select pg_terminate_backend($1)', [pid]);
        await eventually(async () => {
          const rows = await asOwner(world, 'select 1 from pg_stat_activity where pid = $1', [pid]);
          return rows.length === 0;
        });
      }),
    ],
  });
  // Checked at COMMIT, after everything else went well.
  await asOwner(
    world,
    `create function refuse_at_commit() returns trigger language plpgsql as $$
       begin
         if new.name like 'conflict-%' then raise unique_violation; end if;
         raise exception 'refused at commit';
       end $$;
     create constraint trigger refuse after insert on organizations deferrable initially deferred for each row
       when (new.name like 'unstorable-%' or new.name like 'conflict-%') execute function refuse_at_commit();
     create function refuse_failure() returns trigger language plpgsql as $$
       begin raise exception 'refused at commit'; end $$;
     create constraint trigger refuse after delete on sign_in_failures deferrable initially deferred for each row
       execute function refuse_failure();
     alter table sign_in_failures disable trigger refuse;`,
  );
});
afterAll(() => world.close());

let number = 0;
const newName = (prefix = 'organization') => `${prefix}-${++number}-x`;

function make(outcome: Outcome, name: string): Promise<TestAnswer> {
  return world.client().post('/test/organizations', { name, outcome });
}

/** Everything that a request left in the database: kinds of rows with their names. */
async function leftBy(answer: TestAnswer): Promise<string[]> {
  const requestId = answer.headers['x-request-id'];
  const rows = await asOwner<{ left: string }>(
    world,
    `select 'history ' || coalesce(snapshot->>'name', '') as left from history where request_id = $1
     union all select 'event ' || topic from events where request_id = $1
     union all select 'row ' || name from organizations
       where id in (select entity_id from history where request_id = $1)
     order by 1`,
    [requestId],
  );
  return rows.map(({ left }) => left);
}

/** An organization comes with its settings and its managed groups, which have settings each. */
function leftByCreation(name: string): string[] {
  return [
    ...Array<string>(3).fill('event group.created'),
    ...Array<string>(3).fill('event group_setting.created'),
    'event organization.created',
    'event organization_billing.created',
    'event organization_setting.created',
    ...Array<string>(5).fill('history '),
    ...['Admins', 'All Members', 'Viewers', name].map((each) => `history ${each}`),
    `row ${name}`,
  ];
}

async function namesLike(name: string): Promise<string[]> {
  const rows = await asOwner<{ name: string }>(world, 'select name from organizations where name like $1 order by 1', [
    `${name}%`,
  ]);
  return rows.map((row) => row.name);
}

test('a success is stored, announced and hands out its cookie', async () => {
  const name = newName();
  const answer = await make('answer', name);
  expect(answer.status).toBe(200);
  expect(String(answer.headers['set-cookie'])).toContain('credential=secret');
  expect(await leftBy(answer)).toEqual(leftByCreation(name));
});

describe('an error answer stores nothing but what was recorded outside of the request', () => {
  test.each<[string, Outcome, number, ErrorCode | undefined]>([
    ['a refusal that is thrown', 'refuse', 403, 'permission_denied'],
    ['a failure that is thrown', 'break', 500, 'internal'],
    ['a 4xx that is returned', 'return-409', 409, undefined],
    ['a 5xx that is returned', 'return-500', 500, undefined],
    ['an answer that cannot be serialized', 'unserializable', 500, 'internal'],
    ['a write that the database refuses', 'twice', 409, 'already_exists'],
    ['a connection that is lost before COMMIT', 'kill', 503, 'database_unavailable'],
  ])('%s', async (_name, outcome, status, code) => {
    const name = newName();
    const answer = await make(outcome, name);
    expect(answer.status).toBe(status);
    if (code) expectProblem(answer, code);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(JSON.stringify(answer.body)).not.toContain('internal text');
    expect(await namesLike(name)).toEqual([`${name}-refused`]);
    expect(await leftBy(answer)).toEqual(leftByCreation(`${name}-refused`));
  });

  test.each<[string, string, ErrorCode]>([
    ['a COMMIT that a deferred constraint refuses', 'unstorable', 'internal'],
    ['a COMMIT that finds a conflict', 'conflict', 'already_exists'],
  ])('%s', async (_name, prefix, code) => {
    const name = newName(prefix);
    const answer = await make('answer', name);
    expectProblem(answer, code);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(await namesLike(name)).toEqual([]);
  });

  test('a failure between the last statement and COMMIT', async () => {
    const name = newName();
    armFailpoints([{ name: 'before-commit', action: 'throw', after: 0 }]);
    const answer = await make('answer', name).finally(() => armFailpoints([]));
    expectProblem(answer, 'internal');
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(await namesLike(name)).not.toContain(name);
  });

  test('a sign-in whose COMMIT fails', async () => {
    const person = await buildPerson(world);
    await asOwner(world, 'alter table sign_in_failures enable trigger refuse');
    const client = world.client();
    const answer = await client.post('/v1/login', { username: person.user.email, password: testPassword });
    await asOwner(world, 'alter table sign_in_failures disable trigger refuse');
    expectProblem(answer, 'internal');
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(client.cookies.has('access_token')).toBe(false);
  });
});

describe('a GraphQL answer with errors has no data and stores nothing', () => {
  const create = (alias: string, name: string) =>
    `${alias}: createOrganization(input: { name: "${name}" }) { organization { id } }`;

  test('although earlier fields of the mutation succeeded', async () => {
    const client = await signedIn(world, await buildPerson(world));
    const [first, second] = [newName(), newName()];
    const answer = await client.graphql(
      `mutation { ${create('a', first)} ${create('b', first)} ${create('c', second)} }`,
    );
    expect(answer.body).toMatchObject({
      data: null,
      errors: [{ path: ['b'], extensions: { code: 'already_exists', request_id: answer.headers['x-request-id'] } }],
    });
    expect(await namesLike(first)).toEqual([]);
    expect(await namesLike(second)).toEqual([]);
    expect(await leftBy(answer)).toEqual([]);
  });

  test('when the COMMIT fails', async () => {
    const client = await signedIn(world, await buildPerson(world));
    const answer = await client.graphql(`mutation { ${create('a', newName('unstorable'))} }`);
    expect(answer.body).toEqual({
      data: null,
      errors: [
        {
          message: expect.stringContaining('on the server'),
          extensions: { code: 'internal', request_id: answer.headers['x-request-id'] },
        },
      ],
    });
  });

  test('a query cannot write whatever its resolvers try, because its transaction is read only', async () => {
    const person = await buildPerson(world);
    const unit = world.runtime.database.unitOfWork({
      caller: callerOf({ kind: 'user', subjectId: person.user.id }),
      requestId: 'read-only',
      readOnly: true,
    });
    const session = await unit.readAs('system');
    await expect(session.query('delete from sign_in_failures')).rejects.toThrow(/read-only transaction/);
    await unit.rollback();
  });
});

describe('recording outside of the request', () => {
  test('is done under the id of the request it belongs to', async () => {
    const name = newName();
    const answer = await make('refuse', name);
    const rows = await asOwner(world, `select actor, request_id from history where snapshot->>'name' = $1`, [
      `${name}-refused`,
    ]);
    expect(rows).toEqual([{ actor: 'system:refused', request_id: answer.headers['x-request-id'] }]);
  });

  test('that fails is logged and changes no answer', async () => {
    const name = newName();
    await make('refuse', name);
    // Now the name for the record is taken.
    const answer = await make('refuse', name);
    expectProblem(answer, 'permission_denied');
    expect(world.logs).toContainEqual(
      expect.objectContaining({ level: 'error', msg: 'failed: recording "refused" outside the request' }),
    );
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ProviderError } from '#activities/clients/integrations/provider-error.ts';
import { armFailpoints } from '#entities/kit/base/failpoint.ts';
import { directoryAccount, integration, membership, organization } from '#entities/index.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { accountOf, groupOf, ingestGround, memberOf, pagesOf } from '../../kit/integrations/ingest-ground.ts';
import { buildPerson } from '../../kit/people.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
afterEach(() => armFailpoints([]));

const numbers = (count: number) => Array.from({ length: count }, (_none, index) => index + 1);

/** Rows of directory tables and of their history that were written for an integration. */
const writesOf = async (integrationId: string) => {
  const [row] = await asOwner<{ versions: number; history: number }>(
    world,
    `with held as (select id, record_version from directory_accounts where integration_id = $1
       union all select id, record_version from directory_groups where integration_id = $1
       union all select id, record_version from directory_memberships where integration_id = $1)
     select coalesce(sum(record_version), 0)::int as versions,
       (select count(*)::int from history h where h.entity_id in (select id from held)) as history from held`,
    [integrationId],
  );
  return row;
};

describe('a pass', () => {
  test('brings accounts, groups and memberships in, with history and events, and a second one without changes writes nothing', async () => {
    const ground = await ingestGround(world);
    ground.answer = pagesOf(
      [accountOf(1), accountOf(2, { attributes: { floor: 3 } }), groupOf('g')],
      [memberOf(1, 'g', 'lead'), memberOf(2, 'g')],
    );
    const run = await ground.pass();
    expect(run).toMatchObject({
      status: 'succeeded',
      readRecords: 5,
      createdRecords: 5,
      updatedRecords: 0,
      failedRecords: 0,
      removedRecords: 0,
      errorCode: null,
      cursor: null,
      openKey: null,
    });
    expect(await ground.accounts()).toMatchObject([
      { externalId: '1', email: 'p1@example.com', displayName: 'Person 1', isActive: true, attributes: null },
      { externalId: '2', email: 'p2@example.com', attributes: { floor: 3 } },
    ]);
    expect(new Set((await ground.memberships()).map(({ role }) => role))).toEqual(new Set([null, 'lead']));
    expect(await ground.syncRuns()).toMatchObject([
      { status: 'completed', isComplete: true, seenAccounts: 2, seenGroups: 1, seenMemberships: 2 },
    ]);
    const [events] = await asOwner<{ count: number }>(
      world,
      `select count(*)::int as count from events where topic = 'directory_account.created' and organization_id = $1`,
      [ground.owner.organization.id],
    );
    expect(events?.count).toBe(2);
    const written = await writesOf(ground.integrationId);
    expect(written).toEqual({ versions: 5, history: 5 });

    expect(await ground.pass()).toMatchObject({ status: 'succeeded', unchangedRecords: 5, updatedRecords: 0 });
    expect(await writesOf(ground.integrationId)).toEqual(written);
    expect(await asOwner(world, 'select * from integration_sightings')).toEqual([]);
  });

  test('changes what differs, empties what is missing, and gives each record its own values', async () => {
    const ground = await ingestGround(world);
    ground.answer = pagesOf(numbers(30).map((id) => accountOf(id)));
    await ground.pass();
    ground.answer = pagesOf(
      numbers(30).map((id) =>
        id % 3 === 0
          ? accountOf(id, { name: `New ${id}` })
          : id % 3 === 1
            ? accountOf(id, { name: undefined, active: false })
            : accountOf(id),
      ),
    );
    expect(await ground.pass()).toMatchObject({ updatedRecords: 20, unchangedRecords: 10, createdRecords: 0 });
    for (const { externalId, displayName, isActive, recordVersion } of await ground.accounts()) {
      const id = Number(externalId);
      const expected = [
        { displayName: `New ${id}`, isActive: true, recordVersion: 2 },
        { displayName: null, isActive: false, recordVersion: 2 },
        { displayName: `Person ${id}`, isActive: true, recordVersion: 1 },
      ][id % 3];
      expect({ displayName, isActive, recordVersion }).toEqual(expected);
    }
    const changes = await asOwner<{ changed_fields: string[] }>(
      world,
      `select changed_fields from history h join directory_accounts a on a.id = h.entity_id
       where a.integration_id = $1 and h.operation = 'updated' and a.external_id = '4'`,
      [ground.integrationId],
    );
    expect(changes.map(({ changed_fields: names }) => names.toSorted())).toEqual([['displayName', 'isActive']]);
  });

  test('of a directory that lists only some of its records removes none, and says why', async () => {
    const ground = await ingestGround(world, {}, { isPartial: true });
    ground.answer = pagesOf([accountOf(1)]);
    await ground.pass();
    ground.answer = pagesOf([accountOf(2)]);
    expect(await ground.pass()).toMatchObject({ status: 'succeeded', createdRecords: 1, removedRecords: 0 });
    expect(await ground.accounts()).toMatchObject([{ externalId: '1' }, { externalId: '2' }]);
    expect((await ground.syncRuns()).at(-1)).toMatchObject({
      status: 'completed',
      isComplete: false,
      errorMessage: expect.stringContaining('lists only some of its records'),
    });
  });

  test('refuses a page of more records than fit into memory, and says so', async () => {
    const ground = await ingestGround(world);
    ground.answer = () => ({ records: Array.from({ length: 10_001 }, () => accountOf(1)) });
    expect(await ground.pass()).toMatchObject({
      status: 'failed',
      errorCode: 'refused',
      errorMessage: expect.stringContaining('10001 records'),
      readRecords: 0,
    });
  });

  test('names bad records and takes the others over; it removes nothing then', async () => {
    const ground = await ingestGround(world);
    ground.answer = pagesOf(numbers(5).map((id) => accountOf(id)));
    await ground.pass();
    ground.answer = pagesOf([
      accountOf(1),
      accountOf('long', { name: 'x'.repeat(300) }),
      accountOf('nobody', { email: 'not an address' }),
      { kind: 'directoryAccount', payload: { email: 'no-id@example.com' } },
      { kind: 'directoryAccount', variant: 'unknown', payload: { id: 'v' } },
      accountOf('no-address', { email: undefined }),
    ]);
    const run = await ground.pass();
    expect(run).toMatchObject({
      status: 'succeeded',
      failedRecords: 4,
      createdRecords: 1,
      unchangedRecords: 1,
      removedRecords: 0,
    });
    expect(run.failures).toMatchObject([
      { kind: 'directoryAccount', externalId: 'long', reason: expect.stringContaining('displayName') },
      { externalId: 'nobody', reason: expect.stringContaining('e-mail') },
      { externalId: '#4', reason: expect.stringContaining('mapping fails') },
      { externalId: 'v', reason: expect.stringContaining('no mapping') },
    ]);
    expect(await ground.accounts()).toHaveLength(6);
    expect((await ground.syncRuns()).at(-1)).toMatchObject({
      isComplete: false,
      status: 'completed',
      errorMessage: expect.stringContaining('4 records could not be taken over'),
    });
  });

  test('keeps the first of two records with one key, names the other, and keeps numbers as they are', async () => {
    const ground = await ingestGround(world);
    ground.answer = pagesOf([accountOf(1), accountOf(1, { name: 'Later' }), accountOf(1_200_000_000_000_000)]);
    expect(await ground.pass()).toMatchObject({
      readRecords: 3,
      createdRecords: 2,
      filteredRecords: 1,
      failedRecords: 0,
      failures: [{ kind: 'directoryAccount', externalId: '1', reason: expect.stringContaining('earlier record') }],
    });
    expect(await ground.accounts()).toMatchObject([
      { externalId: '1', displayName: 'Person 1' },
      { externalId: '1200000000000000' },
    ]);
  });

  test('names records whose key an earlier page had, writes them once, and removes what is missing all the same', async () => {
    const ground = await ingestGround(world);
    ground.answer = pagesOf([accountOf(1), accountOf(2), accountOf(3)]);
    await ground.pass();
    ground.answer = pagesOf(
      [accountOf(1, { name: 'First' }), accountOf(2), groupOf('g', 'First'), memberOf(1, 'g', 'lead')],
      [accountOf(1, { name: 'Later' }), groupOf('g', 'Later'), memberOf(1, 'g')],
    );
    expect(await ground.pass()).toMatchObject({
      status: 'succeeded',
      readRecords: 7,
      createdRecords: 2,
      updatedRecords: 1,
      unchangedRecords: 1,
      filteredRecords: 3,
      failedRecords: 0,
      removedRecords: 1,
      failures: [
        { kind: 'directoryAccount', externalId: '1' },
        { kind: 'directoryGroup', externalId: 'g' },
        { kind: 'directoryMembership', externalId: '1 in g' },
      ],
    });
    expect(await ground.accounts()).toMatchObject([{ externalId: '1', displayName: 'First' }, { externalId: '2' }]);
    expect(await ground.groups()).toMatchObject([{ displayName: 'First' }]);
    expect(await ground.memberships()).toMatchObject([{ role: 'lead' }]);
    expect((await ground.syncRuns()).at(-1)).toMatchObject({
      isComplete: true,
      seenAccounts: 2,
      seenGroups: 1,
      seenMemberships: 1,
    });

    const written = await writesOf(ground.integrationId);
    expect(await ground.pass()).toMatchObject({ updatedRecords: 0, unchangedRecords: 4, filteredRecords: 3 });
    expect(await writesOf(ground.integrationId)).toEqual(written);
  });

  test('leaves out what the filters of the organization and of the mapping do not let in, and removes it later', async () => {
    const ground = await ingestGround(world, { filterExpr: `kind != 'directoryAccount' || payload.active` });
    ground.answer = pagesOf([
      accountOf(1),
      accountOf(2),
      accountOf(3, { active: false }),
      accountOf(4, { robot: true }),
      groupOf('g'),
      memberOf(1, 'g'),
      memberOf(3, 'g'),
    ]);
    expect(await ground.pass()).toMatchObject({ createdRecords: 4, filteredRecords: 3, failedRecords: 0 });
    ground.answer = pagesOf([accountOf(1), accountOf(2, { active: false }), groupOf('g'), memberOf(1, 'g')]);
    expect(await ground.pass()).toMatchObject({ removedRecords: 1, filteredRecords: 1 });
    expect(await ground.accounts()).toMatchObject([{ externalId: '1' }]);
  });

  test('ends with a sentence when an expression is too costly for every record', async () => {
    const list = `[${numbers(60).join()}]`;
    const ground = await ingestGround(world, {
      filterExpr: `${list}.all(a, ${list}.all(b, ${list}.all(c, ${list}.all(d, a + b + c + d > 0))))`,
    });
    ground.answer = pagesOf([accountOf(1), accountOf(2)]);
    const run = await ground.pass();
    expect(run).toMatchObject({
      status: 'failed',
      errorCode: 'refused',
      errorMessage: expect.stringContaining('simpler'),
    });
  });
});

describe('what is missing', () => {
  test('is removed by a complete pass, with memberships before accounts', async () => {
    const ground = await ingestGround(world);
    ground.answer = pagesOf([
      accountOf(1),
      accountOf(2),
      accountOf(3),
      groupOf('g'),
      memberOf(1, 'g'),
      memberOf(2, 'g'),
      memberOf(3, 'g'),
    ]);
    await ground.pass();
    ground.answer = pagesOf([accountOf(1), accountOf(2), groupOf('g'), memberOf(1, 'g'), memberOf(2, 'g')]);
    expect(await ground.pass()).toMatchObject({ status: 'succeeded', removedRecords: 2 });
    expect(await ground.accounts()).toHaveLength(2);
    expect(await ground.memberships()).toHaveLength(2);
    expect((await ground.syncRuns()).at(-1)).toMatchObject({
      removedAccounts: 1,
      removedMemberships: 1,
      isComplete: true,
    });
    const [events] = await asOwner<{ count: number }>(
      world,
      `select count(*)::int as count from events where topic = 'directory_membership.deleted' and organization_id = $1`,
      [ground.owner.organization.id],
    );
    expect(events?.count).toBe(1);
  });

  test('waits for a person when it is more than half, and a newer run takes its place', async () => {
    const ground = await ingestGround(world);
    ground.answer = pagesOf(numbers(4).map((id) => accountOf(id)));
    await ground.pass();
    // New accounts do not make the loss of the old ones smaller.
    ground.answer = pagesOf([accountOf(1), ...numbers(10).map((id) => accountOf(`new${id}`))]);
    const waiting = await ground.pass();
    expect(waiting).toMatchObject({ status: 'waiting', pendingRemovals: 3, removedRecords: 0 });
    expect(await ground.accounts()).toHaveLength(14);
    ground.answer = pagesOf([...numbers(4), ...numbers(10).map((id) => `new${id}`)].map((id) => accountOf(id)));
    expect(await ground.pass()).toMatchObject({ status: 'succeeded', removedRecords: 0 });
    expect(await ground.run(waiting.id)).toMatchObject({ status: 'cancelled', errorCode: 'superseded' });
  });

  test('stays when the pass did not reach its end', async () => {
    const ground = await ingestGround(world);
    ground.answer = pagesOf([accountOf(1)], [accountOf(2)]);
    await ground.pass();
    ground.answer = (cursor) => {
      if (cursor === undefined) return { records: [accountOf(1)], next: '1' };
      throw new ProviderError(
        'forbidden',
        'The credential lacks the permission to read users. Grant it, then start the operation again.',
      );
    };
    expect(await ground.pass()).toMatchObject({ status: 'failed', errorCode: 'forbidden', removedRecords: 0 });
    expect(await ground.accounts()).toHaveLength(2);
    expect((await ground.syncRuns()).at(-1)).toMatchObject({ status: 'failed', isComplete: false });
  });
});

describe('a run', () => {
  test('is one at a time for an operation of an integration', async () => {
    const ground = await ingestGround(world);
    const { id } = await ground.request();
    await expect(ground.request()).rejects.toMatchObject({
      code: 'rule_violated',
      message: expect.stringContaining(id),
    });
    await ground.advance(id);
    expect((await ground.pass()).id).not.toBe(id);
  });

  test('continues after a failure of the other system at the page that failed', async () => {
    const ground = await ingestGround(world);
    const pages = pagesOf([accountOf(1)], [accountOf(2)], [accountOf(3)]);
    let failures = 2;
    ground.answer = (cursor) => {
      if (cursor === '1' && failures-- > 0)
        throw new ProviderError('rate_limited', 'Too many requests. The server tries again by itself.', {
          retryAfterMs: 7_000,
        });
      return pages(cursor);
    };
    const { id } = await ground.request();
    expect(await ground.advance(id)).toEqual({ isDone: false, pauseMs: 7_000 });
    expect(await ground.run(id)).toMatchObject({ status: 'running', errorCode: 'rate_limited', readRecords: 1 });
    await expect(ground.advance(id)).rejects.toThrow('Too many requests');
    expect(await ground.advance(id)).toEqual({ isDone: true, pauseMs: 0 });
    expect(await ground.run(id)).toMatchObject({ status: 'succeeded', errorCode: null, readRecords: 3 });
    expect(ground.read).toEqual([undefined, '1', '1', '1', '2']);
  });

  test('stops after its time and continues from its row', async () => {
    const ground = await ingestGround(world);
    ground.answer = pagesOf([accountOf(1)], [accountOf(2)], [accountOf(3)]);
    const { id } = await ground.request();
    expect(await ground.advance(id, 0)).toEqual({ isDone: false, pauseMs: 0 });
    expect(await ground.run(id)).toMatchObject({ status: 'running', cursor: '1', pages: 1 });
    while (!(await ground.advance(id, 0)).isDone);
    expect(ground.read).toEqual([undefined, '1', '2']);
  });

  /** A primary directory that has made two people members, by the accounts 1 and 2. */
  const withMembers = async () => {
    const ground = await ingestGround(world);
    const { organization: home } = ground.owner;
    ground.answer = pagesOf([accountOf(1), accountOf(2)]);
    await ground.pass();
    const people = [await buildPerson(world), await buildPerson(world)];
    const accounts = await ground.accounts();
    await asSystem(world, home.id, async (data) => {
      for (const [index, { user }] of people.entries()) {
        const given = await data.create(membership, { userId: user.id });
        await data.update(directoryAccount, String(accounts[index]?.['id']), { membershipId: given.id });
      }
      await data.update(integration, ground.integrationId, { isPrimaryDirectory: true });
    });
    const areMembers = async () => {
      const held = await asSystem(world, home.id, (data) => data.find(membership, { limit: 10 }));
      return people.map(({ user }) => held.some(({ userId }) => userId === user.id));
    };
    return { ground, areMembers };
  };

  test('takes the rights of somebody who is inactive with the page that says so', async () => {
    const { ground, areMembers } = await withMembers();
    ground.answer = pagesOf([accountOf(1), accountOf(2, { active: false })], [accountOf(3)]);
    const { id } = await ground.request();
    expect(await ground.advance(id, 0)).toEqual({ isDone: false, pauseMs: 0 });
    expect(await areMembers()).toEqual([true, false]);
  });

  test('continues while the organization is archived: who left the directory has no rights to read it any more', async () => {
    const { ground, areMembers } = await withMembers();
    const { id: home } = ground.owner.organization;
    await asSystem(world, home, (data) => data.update(organization, home, { isArchived: true }));
    ground.answer = pagesOf([accountOf(1), accountOf(2, { active: false })]);
    expect(await ground.pass()).toMatchObject({ status: 'succeeded', updatedRecords: 1 });
    expect(await areMembers()).toEqual([true, false]);
  });

  test('begins again once when its position is not valid any more', async () => {
    const ground = await ingestGround(world);
    const pages = pagesOf([accountOf(1)], [accountOf(2)]);
    let expiries = 1;
    ground.answer = (cursor) => {
      if (cursor === '1' && expiries-- > 0)
        throw new ProviderError('cursor_expired', 'The position is not valid any more.');
      return pages(cursor);
    };
    expect(await ground.pass()).toMatchObject({ status: 'succeeded', readRecords: 2, createdRecords: 2, restarts: 1 });
    expect(ground.read).toEqual([undefined, '1', undefined, '1']);
    expect(await ground.syncRuns()).toMatchObject([{ status: 'completed', seenAccounts: 2 }]);
    expiries = 10;
    expect(await ground.pass()).toMatchObject({ status: 'failed', errorCode: 'cursor_expired' });
  });

  test('ends when the positions go in a circle', async () => {
    const ground = await ingestGround(world);
    ground.answer = (cursor) => ({ records: [accountOf(cursor ?? 'first')], next: cursor === 'a' ? 'b' : 'a' });
    const run = await ground.pass();
    expect(run).toMatchObject({
      status: 'failed',
      errorCode: 'refused',
      errorMessage: expect.stringContaining('again and again'),
    });
    expect(ground.read).toEqual([undefined, 'a', 'b']);
  });

  test.each([
    'integration-page-read',
    'before-commit',
    'integration-page-taken',
    'integration-records-removed',
  ] as const)('that crashes at %s is continued, and nothing is lost, doubled or wrongly removed', async (name) => {
    const ground = await ingestGround(world);
    ground.answer = pagesOf([accountOf(1), accountOf(2), accountOf(3)]);
    await ground.pass();
    ground.answer = pagesOf(
      [accountOf(1), groupOf('g')],
      [accountOf(2), accountOf(4)],
      [memberOf(1, 'g'), memberOf(4, 'g')],
    );
    const { id } = await ground.request();
    for (let after = 0; ; after++) {
      armFailpoints([{ name, action: 'throw', after }]);
      const ended = await ground.advance(id).then(
        ({ isDone }) => isDone,
        () => false,
      );
      armFailpoints([]);
      if (ended) break;
    }
    expect(await ground.run(id)).toMatchObject({
      status: 'succeeded',
      readRecords: 6,
      createdRecords: 4,
      removedRecords: 1,
    });
    expect((await ground.accounts()).map(({ externalId }) => externalId)).toEqual(['1', '2', '4']);
    expect(await ground.memberships()).toHaveLength(2);
    expect((await ground.syncRuns()).at(-1)).toMatchObject({
      seenAccounts: 3,
      seenGroups: 1,
      seenMemberships: 2,
      removedAccounts: 1,
    });
  });
});

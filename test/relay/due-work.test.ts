import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { declaredDueWork } from '#entities/declared-due-work.ts';
import { claimDueWork, claimStatement, noOwner } from '#entities/kit/due-work/due-rows.ts';
import { pauseAfter, type Claim, type DueItem, type DueWork } from '#entities/kit/due-work/define-due-work.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { checksDue } from '#entities/kit/objects/checks-due.ts';
import { copiesDue } from '#entities/kit/objects/copies-due.ts';
import { forceIndexScans } from '#entities/kit/outbox/outbox.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { DueWorkRelay } from '#relay/due-work/due-work-relay.ts';
import { verifyInstallation } from '#tools/commands/verify.ts';
import { readCommand } from '#tools/commands/tool.ts';
import { workTool } from '#tools/commands/work-arguments.ts';
import { runWorkCommand } from '#tools/commands/work-commands.ts';
import { asOwner } from '../kit/as-owner.ts';
import { eventually } from '../kit/eventually.ts';
import { openWorld, type World } from '../kit/world.ts';

const limit = 50;

let world: World;
beforeAll(async () => {
  // Only the tests claim.
  world = await openWorld({ environment: { CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' }, skipVerify: true });
});
afterAll(() => world.close());
afterEach(async () => {
  await asOwner(world, 'delete from uploads');
  await asOwner(world, 'delete from stored_objects');
});

/** Adds uploads of an organization whose checks are due. */
async function addDue(organizationId: string | null, count: number, dueAt = world.clock.now()): Promise<void> {
  await asOwner(
    world,
    `with object as (
       insert into stored_objects (id, provider, bucket, key, state, name, created_at) values ($1, 'disk', 'files', $1, 'receiving', 'a', $4)
       returning id)
     insert into uploads (id, object_id, route, actor, organization_id, state, declared, check_due_at, created_at, expires_at)
     select $1 || n, object.id, 'direct', 'user:' || $1, $2, 'arrived', '{}', $4, $4, $4::timestamptz + interval '1 day'
     from object, generate_series(1, $3::int) as n`,
    [newId(), organizationId, count, dueAt],
  );
}

const inDatabase = <T>(work: (unit: UnitOfWork) => Promise<T>) =>
  world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, work);

const claim = (after = ''): Promise<Claim> =>
  inDatabase((unit) => claimDueWork(unit, checksDue, { limit, lane: undefined, after }));

const sharesIn = ({ items }: Claim) =>
  new Map([...Map.groupBy(items, ({ owner }) => owner)].map(([owner, own]) => [owner, own.length]));

describe('a claim', () => {
  test('gives each organization the same share, and what has none counts as one', async () => {
    const [busy, late] = [newId(), newId()];
    await addDue(busy, 300);
    await addDue(null, 300);
    await addDue(late, 3);
    const first = await claim();
    expect(sharesIn(first)).toEqual(
      new Map([
        [busy, 16],
        [late, 3],
        [noOwner, 16],
      ]),
    );
    expect(first.hasMore).toBe(true);
    let left = 603 - first.items.length;
    for (let next = first; next.hasMore;) {
      next = await claim(next.next);
      left -= next.items.length;
    }
    expect(left).toBe(0);
  });

  test('serves hundreds of organizations one after the other', async () => {
    const organizations = Array.from({ length: 120 }, () => newId());
    for (const organization of organizations) await addDue(organization, 2);
    const served = new Set<string>();
    let claims = 0;
    for (let after = ''; served.size < organizations.length && claims < 10; claims++) {
      const { items, next } = await claim(after);
      for (const { owner } of items) served.add(owner);
      after = next;
    }
    expect(served.size).toBe(organizations.length);
    expect(claims).toBe(3);
  });

  test('takes rows that no other claim has, until their lease is over', async () => {
    await addDue(newId(), 80);
    const claims = await Promise.all([claim(), claim()]);
    const ids = claims.flatMap(({ items }) => items.map(({ key }) => key));
    expect(new Set(ids).size).toBe(ids.length);
    for (let next = await claim(); next.items.length > 0; next = await claim());
    world.clock.advance(checksDue.leaseMs - 1);
    expect((await claim()).items).toEqual([]);
    world.clock.advance(1);
    expect((await claim()).items).toHaveLength(limit);
  });

  test.each<DueWork>([checksDue, copiesDue])('of $name reads its index alone', async ({ rows }) => {
    for (let n = 0; n < 20; n++) await addDue(newId(), 100);
    await asOwner(
      world,
      `insert into stored_objects (id, provider, bucket, key, state, name, content_type, size_bytes, sha256, version, owner_kind, owner_id,
         owner_field, created_at, owned_at, copy_due_at)
       select $1 || n, 'disk', 'files', $1 || n, 'owned', 'a', 'text/plain', 1, '', '1', 'file', $1 || n, 'content', now(), now(), now()
       from generate_series(1, 2000) as n`,
      [newId()],
    );
    await asOwner(world, `analyze ${rows.table}`);
    const values = { $1: 'now()', $2: 'now()', $3: `''`, $4: String(limit), $5: rows.lane ? `'disk'` : `'${noOwner}'` };
    const statement = claimStatement(rows).replaceAll(/\$\d/g, (name) => values[name as keyof typeof values]);
    const plan = await inDatabase(async (unit) => {
      const session = await unit.readAs('system');
      await session.query(forceIndexScans);
      return (await session.query<{ 'QUERY PLAN': string }>(`explain ${statement}`)).rows;
    });
    const lines = plan.map((line) => line['QUERY PLAN']);
    const scans = lines.filter((line) => line.includes('Scan') && line.includes(` on ${rows.table}`));
    // The first owner, whether it has due rows, these, and the rows to change by their key; the plan does not show how the next owner is found.
    expect(scans.map((line) => /using (\w+)/.exec(line)?.[1]?.replace(`${rows.table}_`, ''))).toEqual([
      ...Array.from({ length: 3 }, () => rows.dueAt.replace('_at', '')),
      'pkey',
    ]);
    const conditions = lines.filter((line) => line.includes('Index Cond'));
    expect(
      conditions.filter((line) => line.includes('organization_id')),
      lines.join('\n'),
    ).toHaveLength(3);
    expect(
      conditions.filter((line) => line.includes(rows.dueAt)),
      lines.join('\n'),
    ).toHaveLength(2);
  });
});

test.each(declaredDueWork.filter(({ claim: own }) => !own))('$name has the index of its claim', async ({ rows }) => {
  const plain = (text: string) => text.toLowerCase().replaceAll(/::text|[\s()]/g, '');
  const indexes = await asOwner<{ indexdef: string }>(world, 'select indexdef from pg_indexes where tablename = $1', [
    rows.table,
  ]);
  const columns = [...(rows.lane ? [rows.lane] : []), rows.owner, rows.dueAt, rows.key].join(',');
  expect(indexes.map(({ indexdef }) => plain(indexdef))).toContainEqual(
    expect.stringContaining(plain(`(${columns}) where`)),
  );
});

test('verify reports what has been due for a quarter of an hour', async () => {
  await addDue(newId(), 2, new Date(world.clock.now().getTime() - 15 * 60_000));
  const lines = await verifyInstallation(world.runtime, { isQuiet: true });
  expect(lines).toContainEqual(expect.stringMatching(/^file\/checks: 2 are due, the oldest since /));
});

test('work -- queues counts what waits, and names what is paused', async () => {
  await addDue(newId(), 2);
  await addDue(newId(), 1, new Date(world.clock.now().getTime() + 1));
  await asOwner(
    world,
    `update stored_objects set state = 'owned', content_type = 'text/plain', size_bytes = 1, sha256 = '', version = '1', owner_kind = 'file',
       owner_id = id, owner_field = 'content', owned_at = now(), copy_due_at = $1`,
    [world.clock.now()],
  );
  const lines: string[] = [];
  const tool = { runtime: world.runtime, temporalUi: undefined, print: (line: string) => lines.push(line) };
  await runWorkCommand(readCommand(workTool, ['queues']), tool);
  const since = world.clock.now().toISOString();
  expect(lines).toContain(`  2 due since ${since}, 1 later`);
  expect(lines).toContain('  0 due, 0 later');
  expect(lines).toContain(`  disk: 2 due since ${since}, 0 later, paused`);
});

test('the relay refuses work whose workflow this release does not have', () => {
  const { database, temporal } = world.runtime;
  const relay = { database, temporal, logger: pino({ enabled: false }), isEnabled: () => false, openLanes: () => [] };
  expect(() => new DueWorkRelay({ ...relay, dueWork: [checksDue], contracts: [] })).toThrow(
    'there is no workflow "checkUpload"',
  );
});

describe('the relay', () => {
  /** @param start in the place of Temporal's */
  function relayOf(work: DueWork, start: (input: object) => Promise<boolean>, lanes: readonly string[] = []) {
    const lines: string[] = [];
    const relay = new DueWorkRelay({
      database: world.runtime.database,
      temporal: { start: (_contract: object, input: object) => start(input) } as unknown as TemporalGateway,
      logger: pino({}, { write: (line: string) => void lines.push(line) }),
      dueWork: [work],
      contracts: [{ name: work.workflow, workflowId: () => 'one' }],
      isEnabled: () => true,
      openLanes: () => (lanes.length > 0 ? lanes : [undefined]),
    });
    return { relay, reported: (text: string) => lines.filter((line) => line.includes(text)).length };
  }
  const notBegun = 'some due work could not be begun';

  test('begins what it can, and what it cannot begin is due again after pauses that grow', async () => {
    await addDue(newId(), 3);
    const started: object[] = [];
    const input = ({ key }: DueItem) => {
      if (key.endsWith('1')) throw new Error('no input');
      return { key };
    };
    const { relay, reported } = relayOf({ ...checksDue, input }, async (one) => {
      if ((one as DueItem).key.endsWith('2')) throw new Error('not started');
      return started.push(one) > 0;
    });
    for (const [n, pauseMs] of [1_000, 10_000, 60_000, checksDue.leaseMs].entries()) {
      relay.wake();
      await eventually(() => reported(notBegun) === n + 1);
      await eventually(async () => {
        const rows = await asOwner<{ dueAt: Date }>(
          world,
          `select check_due_at as "dueAt" from uploads where right(id, 1) <> '3'`,
        );
        return rows.every(({ dueAt }) => dueAt.getTime() === world.clock.now().getTime() + pauseMs);
      });
      world.clock.advance(pauseMs);
    }
    await relay.stop();
    expect(new Set(started.map((one) => (one as DueItem).key.slice(-1)))).toEqual(new Set(['3']));
    expect(reported('the relay of due work failed')).toBe(0);
  });

  test('keeps the time that a change has set while the work could not be begun', async () => {
    await addDue(newId(), 1);
    const { relay, reported } = relayOf(checksDue, async () => {
      await asOwner(world, 'update uploads set check_due_at = $1', [world.clock.now()]);
      throw new Error('not started');
    });
    relay.wake();
    await eventually(() => reported(notBegun) === 1);
    await relay.stop();
    expect(await asOwner(world, 'select 1 from uploads where check_due_at = $1', [world.clock.now()])).toHaveLength(1);
  });

  test('continues with what is due behind work that it cannot begin', async () => {
    await addDue(newId(), 120);
    let calls = 0;
    const { relay, reported } = relayOf(checksDue, async () => {
      if (calls++ === 0) throw new Error('not started');
      return true;
    });
    relay.wake();
    await eventually(() => calls === 120);
    await relay.stop();
    expect(reported(notBegun)).toBe(1);
  });

  test('waits for the next poll when nothing can be begun', async () => {
    await addDue(newId(), 120);
    const { relay, reported } = relayOf(checksDue, () => Promise.reject(new Error('not started')));
    relay.wake();
    await eventually(() => reported(notBegun) === 1);
    await relay.stop();
    const due = await asOwner(world, 'select 1 from uploads where check_due_at <= $1', [world.clock.now()]);
    expect(due).toHaveLength(70);
  });

  test('serves the lanes after one that fails', async () => {
    await addDue(newId(), 2);
    const started: object[] = [];
    const work: DueWork = {
      ...checksDue,
      claim: (unit, request) =>
        request.lane === 'broken'
          ? Promise.reject(new Error('no claim'))
          : claimDueWork(unit, checksDue, { ...request, lane: undefined }),
    };
    const { relay, reported } = relayOf(work, async (one) => started.push(one) > 0, ['broken', 'sound']);
    relay.wake();
    await relay.stop();
    expect(started).toHaveLength(2);
    expect(reported('the relay of due work failed')).toBe(1);
  });
});

test('each has a name of its own', () => {
  const names = declaredDueWork.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toContain('message/endpoints');
});

test('pauses grow, and the last one is repeated or the work is given up', () => {
  const pausesMs = [10, 100];
  expect([1, 2, 3].map((failures) => pauseAfter({ pausesMs, last: 'repeat' }, failures))).toEqual([10, 100, 100]);
  expect(pauseAfter({ pausesMs, last: 'give up' }, 3)).toBeUndefined();
  expect(pauseAfter({ pausesMs, last: 'give up', jitter: 0.5 }, 1, 1)).toBe(15);
});

import { describe, expect, it } from 'vitest';
import { organization } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { Tuple } from '#entities/kit/model/tuples.ts';
import { verifyInstallation } from '#tools/commands/verify.ts';
import { asOwner } from '../kit/as-owner.ts';
import { announce, notingListener } from '../kit/events/event-fixtures.ts';
import { buildPerson, type Person } from '../kit/people.ts';
import { waitForRuns } from '../kit/runs.ts';
import { openWorld, type World } from '../kit/world.ts';

const failing = notingListener('verify-failing', ['verify.failed'], () => {
  throw new Error('it fails');
});

/** Other events have deliveries too. */
const ofTheOrganization = `where event_id in (select id from events where topic = 'organization.created')`;

/** An installation of its own, at rest, for each test: the test breaks it. */
interface Broken {
  readonly world: World;
  readonly person: Person;
  /** What is found; younger work counts too unless `isQuiet` is false. */
  readonly verify: (isQuiet?: boolean) => Promise<string[]>;
  readonly plant: (text: string, ...values: unknown[]) => Promise<unknown>;
  /** The tuple of the person's membership, as lines name it and as the store has it. */
  readonly line: string;
  readonly tuple: Tuple;
}

async function broken(work: (parts: Broken) => Promise<void>, hasWorker = false): Promise<void> {
  const world = await openWorld({
    worker: hasWorker,
    listeners: [failing],
    // It is broken on purpose, which the check at the end would rightly find.
    skipVerify: true,
    environment: { CORE_WORKFLOWS_DISPATCH_MAXRETRIES: '1', CORE_JOBQUEUE_QUEUECONF_TESTONLY: 'true' },
  });
  try {
    // A personal one has no groups, whose tuples would be in the way.
    const home = await world.runtime.database.transact(
      { caller: systemCaller('test'), requestId: `build-${newId()}` },
      ({ data }) => data.create(organization, { name: 'personal', isPersonal: true }),
    );
    const person = await buildPerson(world, { organization: home });
    // On a slow machine its tuple may still be on its way.
    await world.runtime.tuples?.apply();
    const plant = (text: string, ...values: unknown[]) => asOwner(world, text, values);
    if (!hasWorker) {
      await plant(`insert into event_deliveries select occurred_at, id, 'set-up-organization', entity_id, 'done', null, occurred_at
        from events where pending`);
      await plant('update events set settled_at = occurred_at where pending');
    }
    const tuple = {
      object: `organization:${person.organization.id}`,
      relation: 'owner',
      subject: `user:${person.user.id}`,
    };
    await work({
      world,
      person,
      plant,
      verify: (isQuiet = true) => verifyInstallation(world.runtime, { isQuiet }),
      tuple,
      line: `${tuple.object} ${tuple.relation} ${tuple.subject}`,
    });
  } finally {
    await world.close();
  }
}

describe.concurrent('verifyInstallation', () => {
  it('an installation in order has nothing to say', () =>
    broken(async ({ verify }) => {
      expect(await verify()).toEqual([]);
    }));

  it('reads in pages, each in a transaction of its own, and finds the same on any page', () =>
    broken(async ({ world, person, plant }) => {
      for (let count = 0; count < 4; count++) await buildPerson(world, { organization: person.organization });
      await world.runtime.tuples?.apply();
      await plant('update users set record_version = 3');
      await plant(`update events set pending = true, settled_at = null`);
      const find = async (pageSize: number) => {
        const progress: Record<string, number[]> = {};
        const lines = await verifyInstallation(world.runtime, {
          isQuiet: true,
          pageSize,
          onProgress: (name, count) => (progress[name] ??= []).push(count),
        });
        return { lines, progress };
      };
      const small = await find(2);
      const whole = await find(1_000);
      expect(small.lines).toEqual(whole.lines);
      expect(small.lines.filter((line) => line.endsWith('is at version 3, its history at 1'))).toHaveLength(5);
      expect(small.lines.filter((line) => line.endsWith('was never delivered')).length).toBeGreaterThan(4);
      expect([small.progress['users'], whole.progress['users']]).toEqual([[2, 4, 5], [5]]);
      for (const [name, counts] of Object.entries(small.progress))
        expect(counts.at(-1), name).toBe(whole.progress[name]?.at(-1));
    }));

  it('a row whose version history does not know', () =>
    broken(async ({ person, verify, plant }) => {
      await plant('update users set record_version = 3 where id = $1', person.user.id);
      expect(await verify()).toEqual([`user ${person.user.id} is at version 3, its history at 1`]);
    }));

  it('a row without any history', () =>
    broken(async ({ person, verify, plant }) => {
      await plant(`delete from history where entity_id = $1`, person.organization.id);
      expect(await verify()).toEqual([
        `organization ${person.organization.id} is at version 1, its history at none`,
        expect.stringMatching(
          /^event \w+ reports created of organization \w+ \(version 1\), which history does not have$/,
        ),
      ]);
    }));

  it('history of a row that does not exist', () =>
    broken(async ({ person, verify, plant }) => {
      const ghost = newId();
      await plant(
        `insert into history select $2, recorded_at, entity_kind, $3, organization_id, operation, record_version, changed_fields,
           snapshot, actor, request_id from history where entity_id = $1 and entity_kind = 'organization'`,
        person.organization.id,
        newId(),
        ghost,
      );
      expect(await verify()).toEqual([
        `history has entries of organization ${ghost}, which does not exist`,
        `created of organization ${ghost} (version 1) has history but no event`,
      ]);
    }));

  it('a change that was not announced', () =>
    broken(async ({ person, verify, plant }) => {
      await plant(`delete from event_deliveries ${ofTheOrganization}`);
      await plant(`delete from events where entity_id = $1 and topic = 'organization.created'`, person.organization.id);
      expect(await verify()).toEqual([
        `created of organization ${person.organization.id} (version 1) has history but no event`,
      ]);
    }));

  it('an event of a change that never was', () =>
    broken(async ({ person, verify, plant }) => {
      const ghost = newId();
      await plant(
        `insert into events select $2, occurred_at, topic, entity_kind, $3, record_version, organization_id, actor, request_id,
           traceparent, payload, false from events where entity_id = $1 and topic = 'organization.created'`,
        person.organization.id,
        newId(),
        ghost,
      );
      expect(await verify()).toEqual([
        expect.stringMatching(
          `^event \\w+ reports created of organization ${ghost} \\(version 1\\), which history does not have$`,
        ),
      ]);
    }));

  it('an event that was never delivered, once it has had a minute', () =>
    broken(async ({ world, verify, plant }) => {
      await plant(
        `update events set settled_at = null, batch_id = null, claimed_at = null where topic = 'organization.created'`,
      );
      await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' });
      expect(await verify(false)).toEqual([]);
      world.clock.advance(61_000);
      expect(await verify(false)).toEqual([
        expect.stringMatching(/^event \w+ \(organization\.created\) of request build-\w+ was never delivered$/),
      ]);
    }));

  it('an event that counts as delivered, but no listener has seen it', () =>
    broken(async ({ verify, plant }) => {
      await plant(`delete from event_deliveries ${ofTheOrganization}`);
      expect(await verify()).toEqual([
        expect.stringMatching(/^event \w+ \(organization\.created\) is settled, but no listener has a delivery row$/),
      ]);
    }));

  it('a delivery that is held behind nothing', () =>
    broken(async ({ world, verify, plant }) => {
      await plant(`update event_deliveries set state = 'held' ${ofTheOrganization}`);
      world.clock.advance(1);
      expect(await verify()).toEqual([
        expect.stringMatching(
          /^delivery of event \w+ to set-up-organization is held, but neither an earlier delivery nor the listener is failing$/,
        ),
      ]);
    }));

  it('a failing delivery whose workflow is gone', () =>
    broken(async ({ world, verify }) => {
      await announce(world, [{ topic: 'verify.failed' }]);
      const [run] = await waitForRuns(world, 'WorkflowType = "deliverEvent"', 1);
      world.clock.advance(1);
      expect(await verify()).toEqual([]);
      await world.runtime.temporal.client.workflow.getHandle(`${world.name}/${run?.id}`).terminate();
      expect(await verify()).toEqual([
        expect.stringMatching(
          `^delivery of event \\w+ \\(.+\\) to verify-failing is failing, but its workflow ${world.name}/${run?.id} is TERMINATED$`,
        ),
      ]);
    }, true));

  it('a live row whose tuple is not desired', () =>
    broken(async ({ world, verify, plant, line, tuple }) => {
      await plant('update desired_tuples set present = false, version = version + 1, applied_version = version + 1');
      await world.runtime.store?.write([], [tuple]);
      expect(await verify()).toEqual([`the tuple "${line}" of a live membership is not desired`]);
    }));

  it('a live row whose owner is deleted', () =>
    broken(async ({ verify, plant }) => {
      await plant('update organizations set deleted_at = now()');
      expect((await verify()).map((line) => line.replace(/ 01\w+/, ''))).toEqual([
        'membership is live, but its parent organization is deleted',
        'organization_setting is live, but its parent organization is deleted',
      ]);
    }));

  it('a desired tuple that no live row declares', () =>
    broken(async ({ verify, plant, line }) => {
      await plant('update memberships set role = $1, record_version = record_version', 'admin');
      expect(await verify()).toEqual([
        `the tuple "${line.replace(' owner ', ' admin ')}" of a live membership is not desired`,
        `the tuple "${line}" is desired, but no live row declares it`,
      ]);
    }));

  it('a tuple that was never applied', () =>
    broken(async ({ verify, plant, line }) => {
      await plant('update desired_tuples set version = version + 1');
      expect(await verify()).toEqual([`the tuple "${line}" was never applied`]);
      // It may be on its way.
      expect(await verify(false)).toEqual([]);
    }));

  it('a tuple that the authorization store has lost', () =>
    broken(async ({ world, verify, line, tuple }) => {
      await world.runtime.store?.write([], [tuple]);
      expect(await verify()).toEqual([`tuple "${line}" is desired and applied, but not in the authorization store`]);
    }));

  it('a revoked tuple that the authorization store still has', () =>
    broken(async ({ verify, plant, line }) => {
      await plant('update desired_tuples set present = false, version = version + 1, applied_version = version + 1');
      await plant('update memberships set deleted_at = now()');
      expect(await verify()).toEqual([
        `tuple "${line}" was revoked and applied, but is still in the authorization store`,
      ]);
    }));

  it('a tuple in the authorization store that nothing desires', () =>
    broken(async ({ world, verify }) => {
      const stray = { object: `organization:${newId()}`, relation: 'owner', subject: `user:${newId()}` };
      await world.runtime.store?.write([stray], []);
      expect(await verify()).toEqual([
        `tuple "${stray.object} ${stray.relation} ${stray.subject}" is in the authorization store, but no record grants it`,
      ]);
    }));
});

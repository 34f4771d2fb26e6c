// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { describe, expect, it } from 'vitest';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { maintainPartitions } from '#entities/kit/outbox/outbox.ts';
import { asOwner } from '../kit/as-owner.ts';
import { runSchedule } from '../kit/sweep.ts';
import { openWorld, type World } from '../kit/world.ts';

const day = 86_400_000;
const today = new Date(new Date().toISOString().slice(0, 10));
const keep = { eventsMs: 7 * day, historyMs: 30 * day };
const inDays = (days: number, hours = 12) => new Date(today.getTime() + days * day + hours * 3_600_000);
const nameOf = (parent: string, at: Date) => `${parent}_${at.toISOString().slice(0, 10).replaceAll('-', '')}`;

async function inWorld(work: (world: World) => Promise<void>): Promise<void> {
  // Rows are planted by hand, without what belongs to them.
  const world = await openWorld({ skipVerify: true });
  try {
    await work(world);
  } finally {
    await world.close();
  }
}

const maintain = ({ runtime }: World, at: Date) =>
  runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, (unit) =>
    maintainPartitions(unit, at, keep),
  );

async function partitions(world: World, parent: string): Promise<string[]> {
  const rows = await asOwner<{ name: string }>(
    world,
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
     where p.relname = $1 and c.relname ~ '_[0-9]{8}$' order by 1`,
    [parent],
  );
  return rows.map((row) => row.name);
}

type State = 'not claimed' | 'settled' | 'unheard' | 'failing' | 'held' | 'done, but not settled';

/** An event of that instant with what its listener says of it; `done`, `failing` and `held` have a delivery row. */
async function plant(world: World, at: Date, state: State): Promise<string> {
  const id = newId();
  const isSettled = ['settled', 'failing', 'held'].includes(state);
  await asOwner(
    world,
    `insert into events (id, occurred_at, topic, entity_kind, entity_id, record_version, actor, request_id, payload, pending, settled_at)
     values ($1, $2, 'a.b', 'a', 'r', 1, 'test', 'test', '{}', $3, $4)`,
    [id, at, state !== 'unheard', isSettled ? at : null],
  );
  if (state !== 'not claimed' && state !== 'unheard') {
    await asOwner(world, `insert into event_deliveries values ($1, $2, 'listener', 'r', $3, null, $1)`, [
      at,
      id,
      state.startsWith('done') || state === 'settled' ? 'done' : state,
    ]);
  }
  return id;
}

const idsIn = async (world: World, table: string, column: string) =>
  (await asOwner<{ id: string }>(world, `select ${column} as id from ${table} order by 1`)).map((row) => row.id);

describe.concurrent('maintain_partitions', () => {
  it('makes the day and three ahead, of events, deliveries and history', () =>
    inWorld(async (world) => {
      await maintain(world, inDays(10));
      for (const parent of ['events', 'event_deliveries', 'history']) {
        expect(await partitions(world, parent)).toEqual(
          expect.arrayContaining([10, 11, 12, 13].map((days) => nameOf(parent, inDays(days)))),
        );
      }
      await maintain(world, inDays(10));
    }));

  it('begins days at midnight UTC, whatever the time zone of the server', () =>
    inWorld(async (world) => {
      await asOwner(world, `alter database ${world.name} set timezone = 'Asia/Tokyo'`);
      await maintain(world, inDays(20, 23));
      const id = await plant(world, inDays(20, 23), 'settled');
      expect(await idsIn(world, nameOf('events', inDays(20)), 'id')).toEqual([id]);
    }));

  it('drops days past the retention, once nothing in them is open', () =>
    inWorld(async (world) => {
      await plant(world, inDays(0), 'settled');
      await plant(world, inDays(1), 'settled');
      await plant(world, inDays(1), 'unheard');
      await maintain(world, inDays(8, 23));
      expect(await partitions(world, 'events')).not.toContain(nameOf('events', inDays(0)));
      expect(await partitions(world, 'event_deliveries')).not.toContain(nameOf('event_deliveries', inDays(0)));
      // The day is not over for seven days yet.
      expect(await partitions(world, 'events')).toContain(nameOf('events', inDays(1)));
      await maintain(world, inDays(9, 1));
      expect(await partitions(world, 'events')).not.toContain(nameOf('events', inDays(1)));
      expect(await idsIn(world, 'events', 'id')).toEqual([]);
    }));

  it.each<State>(['not claimed', 'done, but not settled', 'failing', 'held'])(
    'keeps a day and its deliveries while an event of it is %s',
    (state) =>
      inWorld(async (world) => {
        const open = await plant(world, inDays(0), state);
        const settled = await plant(world, inDays(0), 'settled');
        await maintain(world, inDays(40));
        expect(await idsIn(world, nameOf('events', inDays(0)), 'id')).toEqual([open, settled].toSorted());
        const deliveries = state === 'not claimed' ? [settled] : [open, settled].toSorted();
        expect(await idsIn(world, nameOf('event_deliveries', inDays(0)), 'event_id')).toEqual(deliveries);
      }),
  );

  it('prunes the default partition by days as well, where rows lie of days that nobody prepared', () =>
    inWorld(async (world) => {
      const gone = await plant(world, inDays(-20), 'settled');
      const failing = await plant(world, inDays(-21), 'failing');
      const beside = await plant(world, inDays(-21, 13), 'settled');
      expect(await idsIn(world, 'events_default', 'id')).toContain(gone);
      await maintain(world, inDays(0));
      expect(await idsIn(world, 'events_default', 'id')).toEqual([failing, beside].toSorted());
      expect(await idsIn(world, 'event_deliveries_default', 'event_id')).toEqual([failing, beside].toSorted());
    }));

  it('keeps rows of a day that lie in the default partition already, and goes on', () =>
    inWorld(async (world) => {
      const id = await plant(world, inDays(30), 'settled');
      await maintain(world, inDays(29));
      expect(await partitions(world, 'events')).not.toContain(nameOf('events', inDays(30)));
      expect(await partitions(world, 'events')).toContain(nameOf('events', inDays(31)));
      expect(await idsIn(world, 'events_default', 'id')).toEqual([id]);
    }));

  it('drops history by its own age', () =>
    inWorld(async (world) => {
      await maintain(world, inDays(29));
      expect(await partitions(world, 'history')).toContain(nameOf('history', inDays(0)));
      await maintain(world, inDays(31, 1));
      expect(await partitions(world, 'history')).not.toContain(nameOf('history', inDays(0)));
    }));

  it('does not wait long for somebody who reads, and comes back for what it left', () =>
    inWorld(async (world) => {
      await plant(world, inDays(0), 'settled');
      const reader = world.runtime.database.unitOfWork({ caller: systemCaller('test'), requestId: newId() });
      const session = await reader.readAs('system');
      await session.query('select 1 from events');
      await maintain(world, inDays(40));
      expect(await partitions(world, 'events')).toContain(nameOf('events', inDays(0)));
      await reader.rollback();
      await maintain(world, inDays(40));
      expect(await partitions(world, 'events')).not.toContain(nameOf('events', inDays(0)));
    }));
});

it('messages to endpoints and attempts are removed after 30 days, however many there are', async () => {
  // Rows are planted by hand, without what belongs to them.
  const world = await openWorld({ worker: true, skipVerify: true });
  try {
    const plantMessages = async (prefix: string, daysAgo: number, count: number) => {
      const at = new Date(Date.now() - daysAgo * day);
      await asOwner(
        world,
        `insert into webhook_messages (endpoint_id, event_id, organization_id, topic, entity_kind, entity_id, record_version, request_id,
           occurred_at, payload, state, updated_at)
         select 'e', $1::text || number, 'o', 'a.b', 'a', 'r', number, 'q', $2::timestamptz, '{}', 'delivered', $2::timestamptz
         from generate_series(1, $3::int) as number`,
        [prefix, at, count],
      );
      await asOwner(
        world,
        `insert into webhook_attempts (id, endpoint_id, event_id, topic, number, attempted_at, duration_ms, status)
         select $1::text || number, 'e', $1::text || number, 'a.b', 1, $2::timestamptz, 1, 200 from generate_series(1, $3::int) as number`,
        [prefix, at, count],
      );
    };
    await plantMessages('old', 31, 25_000);
    await plantMessages('young', 29, 1);
    await runSchedule(world, 'prune-records');
    expect(await idsIn(world, 'webhook_messages', 'event_id')).toEqual(['young1']);
    expect(await idsIn(world, 'webhook_attempts', 'id')).toEqual(['young1']);
  } finally {
    await world.close();
  }
});

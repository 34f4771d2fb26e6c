import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { organization, user } from '#entities/index.ts';
import { callerOf, type Caller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { asOwner } from '../kit/as-owner.ts';
import { seeded, timesOf } from '../kit/depth.ts';
import { recordTried } from '../kit/tried.ts';
import { buildPerson, type Person } from '../kit/people.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
/** Rounds of one person change the same row, so each person has a lane of its own. */
let people: Person[];
let stranger: Person;
const lanes = 4;
const roundsPerLane = timesOf({ sample: 60, prove: 1_000 });
const random = seeded('interleaved roles');

beforeAll(async () => {
  world = await openWorld();
  people = await Promise.all(Array.from({ length: lanes }, () => buildPerson(world)));
  stranger = await buildPerson(world);
  // Notes under which role each row was really written.
  await asOwner(
    world,
    `create table written_by (kind text, id text, role text);
     grant insert on written_by to core_app, core_system;
     create function note_role() returns trigger language plpgsql as $$
       begin insert into written_by values (tg_table_name, new.id, current_user); return null; end $$;
     create trigger note after insert or update on organizations for each row execute function note_role();
     create trigger note after insert or update on users for each row execute function note_role();`,
  );
});
afterAll(() => world.close());

function ownerCaller({ user: { id }, organization: { id: organizationId } }: Person): Caller {
  return callerOf({ kind: 'user', subjectId: id, organizationId, role: 'owner' });
}

/** Lets a random number of other steps go first, some of them across a turn of the event loop. */
async function jitter(): Promise<void> {
  if (random.chance(0.2)) await nextTurn();
  for (let left = random.below(6); left > 0; left--) await Promise.resolve();
}

async function roleSeenBy(unit: UnitOfWork, role: 'app' | 'system'): Promise<string> {
  const session = await unit.readAs(role);
  await jitter();
  const { rows } = await session.query<{ seen: string }>(
    `select current_user || ' ' || coalesce(current_setting('core.user_id', true), '') as seen`,
  );
  return rows[0]?.seen ?? '';
}

test('when privileged and plain work of one unit interleave, no statement runs under the role of the other', async () => {
  const foreign: string[] = [];
  const made: string[] = [];

  const round = async (person: Person, number: number) => {
    const caller = ownerCaller(person);
    const requestId = `round-${number}`;
    const unit = world.runtime.database.unitOfWork({ caller, requestId });
    const privileged = unit.data.privileged('interleaving');
    const steps: (() => Promise<void>)[] = [
      async () => {
        const created = await privileged.create(organization, { name: `made-${newId()}` });
        made.push(created.id);
      },
      async () => {
        await unit.data.update(user, person.user.id, { firstName: `first ${number}` });
      },
      async () => {
        await unit.data.update(user, person.user.id, { lastName: `last ${number}` });
      },
      async () => {
        const seen = await roleSeenBy(unit, 'app');
        if (seen !== `core_app ${person.user.id}`) foreign.push(`${requestId}: app saw ${seen}`);
      },
      async () => {
        const seen = await roleSeenBy(unit, 'system');
        if (!seen.startsWith('core_system')) foreign.push(`${requestId}: system saw ${seen}`);
      },
      async () => {
        const rows = await unit.data.find(organization, { limit: 100 });
        if (rows.some((row) => row.id !== person.organization.id)) foreign.push(`${requestId}: a foreign row was read`);
      },
      async () => {
        const row = await privileged.findOne(organization, { id: { eq: stranger.organization.id } });
        if (!row) foreign.push(`${requestId}: privileged work was held back`);
      },
    ];
    const shuffled = random.shuffled(steps);
    await Promise.all(
      shuffled.map(async (step) => {
        await jitter();
        await step();
      }),
    );
    await unit.commit();
  };
  await Promise.all(
    people.map(async (person) => {
      for (let number = 0; number < roundsPerLane; number++) await round(person, number);
    }),
  );

  recordTried('interleavings', lanes * roundsPerLane);
  expect(foreign).toEqual([]);
  expect(
    await asOwner(world, 'select kind, role, count(distinct id)::int as rows from written_by group by 1, 2 order by 1'),
  ).toEqual([
    { kind: 'organizations', role: 'core_system', rows: lanes * roundsPerLane },
    { kind: 'users', role: 'core_app', rows: lanes },
  ]);
  // Whatever was written was also recorded, and of two changes of one row neither was lost.
  expect(
    await asOwner(
      world,
      `select count(*)::int as rows from history where entity_kind = 'organization' and entity_id = any($1)`,
      [made],
    ),
  ).toEqual([{ rows: lanes * roundsPerLane }]);
  const ids = people.map((person) => person.user.id);
  const last = roundsPerLane - 1;
  expect(await asOwner(world, 'select distinct first_name, last_name from users where id = any($1)', [ids])).toEqual([
    { first_name: `first ${last}`, last_name: `last ${last}` },
  ]);
  expect(
    await asOwner(
      world,
      `select count(*)::int as rows from (
         select from history where entity_kind = 'user' and entity_id = any($1) and request_id like 'round-%'
         group by entity_id, request_id
         having bool_or('firstName' = any(changed_fields)) and bool_or('lastName' = any(changed_fields))) as rounds`,
      [ids],
    ),
  ).toEqual([{ rows: lanes * roundsPerLane }]);
});

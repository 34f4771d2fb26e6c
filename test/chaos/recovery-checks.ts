import { expect } from 'vitest';
import { verifyInstallation } from '#tools/commands/verify.ts';
import { listeners } from '#activities/listeners/index.ts';
import { wantedListeners } from '#activities/listeners/wanted-listeners.ts';
import { asOwner } from '../kit/as-owner.ts';
import { isSettled } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { waitForMails } from '../kit/mailbox.ts';
import type { World } from '../kit/world.ts';
import type { Visitors } from './traffic.ts';

/** What people were told happened, happened once, all of it arrived once, and nothing else happened. */
export async function expectExactlyOnce(world: World, traffic: Visitors): Promise<void> {
  expect(traffic.unexpected).toEqual([]);
  await eventually(() => isSettled(world));
  const { signedUp, created, refused } = traffic;

  const mails = await Promise.all(signedUp.map(async (email) => (await waitForMails(world, email)).length));
  expect(signedUp.filter((_email, index) => mails[index] !== 1)).toEqual([]);

  const people = await asOwner<{ email: string; rows: number; events: number; sent: number }>(
    world,
    // Whoever had no answer asked again, and each of these sign-ups has its own record; one of them is mailed.
    `select v.email, count(distinct v.id)::int as rows, count(distinct e.id)::int as events,
       count(distinct v.id) filter (where v.sent_at is not null)::int as sent from email_verifications v
     left join events e on e.entity_id = v.id and e.topic = 'email_verification.requested'
     where v.email = any($1) group by v.email`,
    [signedUp],
  );
  expect(people).toHaveLength(signedUp.length);
  expect(people.filter(({ rows, events, sent }) => rows !== events || sent !== 1)).toEqual([]);

  const organizations = await asOwner<{ name: string; owners: number; settings: number; events: number }>(
    world,
    `select o.name, count(distinct m.id)::int as owners, count(distinct s.id)::int as settings, count(distinct e.id)::int as events
     from organizations o left join memberships m on m.organization_id = o.id
     left join organization_settings s on s.organization_id = o.id
     left join events e on e.entity_id = o.id and e.topic = 'organization.created'
     where o.name = any($1) group by o.id`,
    [created],
  );
  expect(organizations).toHaveLength(created.length);
  expect(organizations.filter((one) => one.owners !== 1 || one.settings !== 1 || one.events !== 1)).toEqual([]);
  expect(await asOwner(world, 'select name from organizations where name = any($1)', [refused])).toEqual([]);

  await expectAgreement(world);
}

/** Everything was delivered, and what different parts of the installation say agrees. */
export async function expectAgreement(world: World): Promise<void> {
  // Workflows that listeners have started record events of their own.
  await eventually(async () => {
    await expectAllDelivered(world);
    return true;
  });
  // What was recorded and announced is compared row by row: an event of a request that was rolled back has no history.
  world.clock.advance(Date.now() - world.clock.now().getTime());
  await eventually(async () => {
    const lines = await verifyInstallation(world.runtime, { isQuiet: true });
    if (lines.length > 0) throw new Error(lines.join('\n'));
    return true;
  });
}

/** Every event that listeners want has one delivery for each of them, and it is done. */
async function expectAllDelivered(world: World): Promise<void> {
  const wanted = wantedListeners(listeners, world.config.current).flatMap(({ name, topics }) =>
    topics.map((topic) => ({ listener: name, topic })),
  );
  const open = await asOwner(
    world,
    `select e.id, e.topic, w.listener, d.state, d.error from events e
     join unnest($1::text[], $2::text[]) as w (listener, topic) using (topic)
     left join event_deliveries d on d.event_id = e.id and d.occurred_at = e.occurred_at and d.listener = w.listener
     where d.state is distinct from 'done'`,
    [wanted.map(({ listener }) => listener), wanted.map(({ topic }) => topic)],
  );
  expect(open).toEqual([]);
}

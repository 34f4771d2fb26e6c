import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Failpoint } from '#entities/kit/base/failpoint.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../kit/as-owner.ts';
import { eventually } from '../kit/eventually.ts';
import { isSettled } from '../kit/events/event-fixtures.ts';
import { FakeChat } from '../kit/fakes/fake-chat.ts';
import { FakeProviderB } from '../kit/fakes/fake-provider-b.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { ProductProcesses, type Program } from '../kit/processes/product-processes.ts';
import { assign, nextMorning, ownerAndMember, prefer } from '../kit/events/told-people.ts';
import { recordTried } from '../kit/tried.ts';
import { verificationToken } from '../kit/identity/verification-token.ts';
import { openWorld, type World } from '../kit/world.ts';

const worker = 'worker/worker-main.ts' satisfies Program;

/** Where the worker dies, one life after the other, with the passes that it survives. */
const deaths: readonly (readonly [Failpoint, number])[] = [
  ['chat-posted', 1],
  ['notifications-claimed', 0],
  // Before what was made due is sent: later lives may have nothing to claim.
  ['work-claimed', 0],
  ['email-accepted', 0],
  ['notifications-claimed', 1],
  ['chat-posted', 0],
];

const people = 4;
const password = 'correct horse battery';

let world: World;
let chat: FakeChat;
let provider: FakeProviderB;
let product: ProductProcesses;
beforeAll(async () => {
  [chat, provider] = await Promise.all([FakeChat.start(), FakeProviderB.start()]);
  world = await openWorld({
    environment: {
      CORE_INTEGRATIONS_CHATRUNTIME_WEBHOOKURL: chat.webhookUrl,
      CORE_INTEGRATIONS_EMAIL_TESTDIR: '',
      // The one that does not recognize a repeated request.
      CORE_INTEGRATIONS_EMAIL_PROVIDER: 'providerb',
      CORE_INTEGRATIONS_EMAIL_PROVIDERB_SERVERTOKEN: provider.serverToken,
      EMAIL_PROVIDERB_URL: provider.url,
      EMAIL_PROVIDER_ASK_AFTER_MS: '500',
    },
  });
  product = await ProductProcesses.start(world, [worker], {
    [worker]: deaths.map(([name, passes]) => ({ FAILPOINTS: `${name}=kill@${passes}` })),
  });
});
afterAll(async () => {
  await product.close();
  await world.close();
  await Promise.all([chat.close(), provider.close()]);
});

/** Somebody signs up and confirms the address, of which the operator is told. */
async function newUser(): Promise<string> {
  const email = `${newId().toLowerCase()}@example.com`;
  const person = world.client();
  await person.post('/v1/register', { email, password });
  const token = await verificationToken(world, email);
  expect((await person.post('/v1/verify', { token, password })).status).toBe(200);
  return email;
}

test('workers die at every failpoint of notifications and system messages: no digest twice, nothing in two of them, no message to the operator twice', async () => {
  const { owner } = await ownerAndMember(world);
  const users = [await newUser()];
  const members: Person[] = [];
  for (let count = 0; count < people; count++) {
    const person = await buildPerson(world, { organization: owner.person.organization, role: 'member' });
    await prefer(await signedIn(world, person), { channel: 'email', cadence: 'daily' });
    members.push(person);
  }
  const titles = members.flatMap((person) => [1, 2].map(() => ({ person, title: `task ${newId()}` })));
  for (const { person, title } of titles) await assign(owner.client, person, title);
  const [place] = product.places;
  // Six lives, one after the other, of some ten seconds each.
  await eventually(async () => {
    // Each life is told of some.
    if (users.length < 3 * ((place?.deaths ?? 0) + 1)) users.push(await newUser());
    await nextMorning(world, owner.person);
    return (place?.deaths ?? 0) >= deaths.length;
  }, 180_000);
  await eventually(() => isSettled(world));
  const isToldOf = (title: string) => provider.accepted.filter(({ TextBody }) => TextBody.includes(title));
  await eventually(async () => {
    await nextMorning(world, owner.person);
    return titles.every(({ title }) => isToldOf(title).length > 0);
  });
  for (const { person, title } of titles)
    expect(
      isToldOf(title).map(({ To }) => To),
      title,
    ).toEqual([person.user.email]);
  await eventually(async () => {
    const open = await asOwner(world, `select 1 from system_messages where state not in ('sent', 'uncertain')`);
    return open.length === 0;
  });
  for (const email of users)
    expect(chat.posted.filter(({ text }) => text.includes(email)).length, email).toBeLessThanOrEqual(1);
  const uncertain = await asOwner(world, `select 1 from system_messages where state = 'uncertain'`);
  // A death leaves open what was being posted then, and operators see it; nothing else is missing.
  const told = users.filter((email) => chat.posted.some(({ text }) => text.includes(email)));
  expect(told.length + uncertain.length).toBeGreaterThanOrEqual(users.length);
  product.refuseCrashes();
  recordTried('kills while notifications and system messages are sent', place?.deaths ?? 0);
});

import { group, groupMembership, membership, organization, user } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { displayIdOf } from '#entities/kit/base/display-id.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { hashPassword } from '#api/auth/password.ts';
import type { BenchInstallation } from './installation.ts';

/** Owner of an organization that holds groups and tasks. */
export interface BenchPerson {
  readonly email: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly taskIds: readonly string[];
}

const password = 'correct horse battery staple';
/** Owners of organizations that have tasks. */
const ownersWithTasks = 16;
const tasksOfEach = 1_000;
/** Only the first organization has groups: 1 → 20 → 200. */
const groups = 20;
const membersOfEach = 10;

/** @param owners how many people own an organization; those beyond the first ones have no tasks */
export async function seedRecords(
  { runtime, client }: BenchInstallation,
  owners = ownersWithTasks,
): Promise<BenchPerson[]> {
  const passwordHash = await hashPassword(password);
  const context = () => ({ caller: systemCaller('benchmark'), requestId: newId() });
  const people: BenchPerson[] = [];
  for (let index = 0; index < owners; index++) {
    const email = `owner-${index}@example.com`;
    const person = await runtime.database.transact(context(), async ({ data }) => {
      const common = { passwordHash, emailConfirmedAt: new Date() };
      const owner = await data.create(user, { email, displayName: `Owner ${index}`, ...common });
      const home = await data.create(organization, { name: `organization-${index}` });
      await data.create(membership, { organizationId: home.id, userId: owner.id, role: 'owner' });
      return { email, organizationId: home.id, userId: owner.id };
    });
    people.push({ ...person, taskIds: index < ownersWithTasks ? await insertTasks(client, person) : [] });
  }
  const [first] = people as [BenchPerson, ...BenchPerson[]];
  await runtime.database.transact(context(), async ({ data }) => {
    const { organizationId } = first;
    const members: string[] = [];
    for (let index = 0; index < membersOfEach; index++) {
      const { id } = await data.create(user, { email: `member-${index}@example.com`, displayName: `Member ${index}` });
      await data.create(membership, { organizationId, userId: id, role: 'member' });
      members.push(id);
    }
    for (let index = 0; index < groups; index++) {
      const { id: groupId } = await data.create(group, { organizationId, name: `group ${index}` });
      for (const userId of members) await data.create(groupMembership, { organizationId, groupId, userId });
    }
  });
  await client.query('analyze');
  return people;
}

/** As migrations would: without history, because only their number matters. */
export async function insertTasks(
  client: BenchInstallation['client'],
  { organizationId, userId }: Pick<BenchPerson, 'organizationId' | 'userId'>,
  count = tasksOfEach,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId());
  await client.query(
    `insert into tasks (id, created_at, updated_at, created_by, updated_by, record_version, organization_id, display_id,
       title, details, status, priority, tags, external_urls, assigner_id)
     select id, now(), now(), 'system:benchmark', 'system:benchmark', 1, $2, display_id, 'Task ' || n, 'What is to be done, at length.',
       'open', n % 100, array['one', 'two'], '{}', $3
     from unnest($1::text[], $4::text[]) with ordinality as given (id, display_id, n)`,
    [ids, organizationId, userId, ids.map((id) => displayIdOf('TSK', id))],
  );
  return ids;
}

/** Body of `/v1/login`. */
export function signInBody(email: string): object {
  return { username: email, password };
}

/** What a sign-in gives. */
export interface BenchSignIn {
  readonly token: string;
  /** The CSRF cookie and the one by which the browser is known at the next sign-in, as a browser sends them. */
  readonly cookies: string;
  /** Value of the CSRF cookie. */
  readonly csrfToken: string;
}

export async function signIn(url: string, { email }: BenchPerson): Promise<BenchSignIn> {
  const first = await fetch(`${url}/livez`);
  const cookie = (first.headers.getSetCookie()[0] ?? '').split(';', 1)[0] as string;
  const csrfToken = cookie.slice(cookie.indexOf('=') + 1);
  const answer = await fetch(`${url}/v1/login`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      cookie,
      'x-csrf-token': csrfToken,
    },
    body: JSON.stringify(signInBody(email)),
  });
  const { access_token: token } = (await answer.json()) as { access_token?: string };
  if (token === undefined) throw new Error(`${email} could not sign in: ${answer.status}`);
  const devices = answer.headers.getSetCookie().find((line) => line.startsWith('known_devices=')) ?? '';
  return { token, cookies: `${cookie}; ${devices.split(';', 1)[0] ?? ''}`, csrfToken };
}

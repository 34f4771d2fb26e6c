import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { membership, organization } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asSystem } from '../kit/as-person.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import type { TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let person: Person;
let other: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld();
  person = await buildPerson(world);
  other = await buildPerson(world);
  await asSystem(world, other.organization.id, (data) =>
    data.create(membership, { userId: person.user.id, role: 'member' }),
  );
  client = await signedIn(world, person);
});
afterAll(() => world.close());

const ask = (target: unknown, by = client) => by.post('/v1/switch', { target_organization_id: target });

describe('switching', () => {
  test('gives a token and a cookie that act in the other organization, and back', async () => {
    const { body, status } = await ask(other.organization.id);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        access_token: client.cookies.get('access_token'),
        token_type: 'Bearer',
        expires_in: 3_600,
        session_id: expect.any(String),
        user_id: person.user.id,
        organization_id: other.organization.id,
      },
    });
    const made = await client.post('/v1/tasks', { title: 'theirs' });
    expect(made.status).toBe(201);
    expect((await ask(person.organization.id)).status).toBe(200);
    expectProblem(await client.get(`/v1/tasks/${made.body.id}`), 'not_found');
  });

  test('leads into an organization that is part of one in which one has a role', async () => {
    const part = await asSystem(world, other.organization.id, (data) =>
      data.privileged('test').create(organization, { name: newId(), parentId: other.organization.id }),
    );
    expect((await ask(part.id)).body).toMatchObject({ organization_id: part.id });
    expect((await ask(person.organization.id)).status).toBe(200);
  });

  test('into what is foreign is answered like into what is not there', async () => {
    const stranger = await buildPerson(world);
    const answers = [];
    for (const id of [stranger.organization.id, newId(), 'own', '🦄']) {
      const answer = await ask(id);
      expectProblem(answer, 'not_found');
      answers.push(answer.body.detail.replaceAll(id, 'X'));
    }
    expect(new Set(answers).size).toBe(1);
  });

  test('is for those who are signed in, and asks for an id', async () => {
    expectProblem(await ask(person.organization.id, world.client()), 'unauthenticated');
    expectProblem(await ask(7), 'invalid_input');
    expectProblem(await client.post('/v1/switch', {}), 'invalid_input');
  });
});

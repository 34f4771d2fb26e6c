import Schema from 'typebox/schema';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listeners } from '#activities/listeners/index.ts';
import { defineListener } from '#activities/listeners/listener.ts';
import { emailVerification, registry, tag, user } from '#entities/index.ts';
import { declaredEvents, on } from '#entities/kit/model/events.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { isSettled } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson } from '../../kit/people.ts';
import { verificationToken } from '../../kit/identity/verification-token.ts';
import { openWorld, type World } from '../../kit/world.ts';

// What stands below `@ts-expect-error` fails `npm run check` as soon as it compiles.

describe('a topic that no kind declares', () => {
  test('cannot be subscribed to', () => {
    // @ts-expect-error: misspelt
    expect(() => on(user, 'confirmd')).toThrow('there is no event "user.confirmd"');
    // @ts-expect-error: an event of another kind
    expect(() => on(user, 'requested')).toThrow('there is no event "user.requested"');
    // @ts-expect-error: a change that this kind does not record
    expect(() => on(emailVerification, 'deleted')).toThrow('there is no event "email_verification.deleted"');
  });

  test('cannot be recorded', () => {
    const record = { id: 'one', recordVersion: 1 };
    // @ts-expect-error: misspelt
    expect(() => customEvent(user, 'confirmd', record, {})).toThrow('"user" declares no event "confirmd"');
    // @ts-expect-error: changes are recorded by the machine
    expect(() => customEvent(user, 'updated', record, { changed: [] })).toThrow('declares no event "updated"');
  });
});

test('payloads have the type of their schema, where they are recorded and where they are read', () => {
  const record = { id: 'one', recordVersion: 1 };
  expect(customEvent(emailVerification, 'requested', record, { round: 2 })).toMatchObject({
    topic: 'email_verification.requested',
    payload: { round: 2 },
  });
  // @ts-expect-error: a number is declared
  customEvent(emailVerification, 'requested', record, { round: 'two' });
  const listener = defineListener('typed', [on(emailVerification, 'requested'), on(tag, 'updated')], ({ event }) => {
    if ('round' in event.payload) event.payload.round satisfies number;
    else event.payload.changed satisfies string[];
    // @ts-expect-error: neither payload has it
    void event.payload.rounds;
  });
  expect(listener.topics).toEqual(['email_verification.requested', 'tag.updated']);
});

test('names of listeners are unique: they are part of keys and ids', () => {
  const names = listeners.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
});

describe('recorded events', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ worker: true });
  });
  afterAll(() => world.close());

  test('have a declared topic and a payload that its schema accepts', async () => {
    const client = world.client();
    const credentials = { email: 'typed-events@example.com', password: 'correct horse battery' };
    await client.post('/v1/register', credentials);
    const token = await verificationToken(world, credentials.email);
    await client.post('/v1/verify', { token, password: credentials.password });
    world.clock.advance(60_000);
    await client.post('/v1/register', credentials);
    const { organization } = await buildPerson(world);
    const { id } = await asSystem(world, organization.id, (data) => data.create(tag, { name: 'typed' }));
    await asSystem(world, organization.id, (data) => data.update(tag, id, { color: '#101010' }));
    await asSystem(world, organization.id, (data) => data.remove(tag, id));
    await eventually(() => isSettled(world));

    const schemas = new Map(
      registry.modules.flatMap((module) => declaredEvents(module)).map(({ topic, payload }) => [topic, payload]),
    );
    const recorded = await asOwner<{ topic: string; payload: unknown }>(world, 'select topic, payload from events');
    for (const { topic, payload } of recorded) {
      const schema = schemas.get(topic);
      expect(schema && Schema.Check(schema, payload), `${topic} ${JSON.stringify(payload)}`).toBe(true);
    }
    expect([...new Set(recorded.map(({ topic }) => topic))]).toEqual(
      expect.arrayContaining([
        'email_verification.requested',
        'user.registration_repeated',
        'user.confirmed',
        'tag.created',
        'tag.updated',
        'tag.deleted',
      ]),
    );
    expect(recorded.find(({ topic }) => topic === 'tag.updated')?.payload).toEqual({ changed: ['color'] });
  });
});

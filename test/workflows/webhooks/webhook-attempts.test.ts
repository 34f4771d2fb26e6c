import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { HeldBodies } from '#activities/webhooks/held-bodies.ts';
import { inFlightLimit, outcomeOf, refilled, type AnsweredAttempt } from '#activities/webhooks/next-attempt.ts';
import { messageHeaders } from '#activities/webhooks/sign-message.ts';
import type { QueueState } from '#entities/webhooks/webhook-queue-rows.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const now = new Date('2026-01-31T09:30:00Z');

const fresh: QueueState = {
  failures: 0,
  failingSince: null,
  toldAt: null,
  blockedUntil: null,
  tokens: null,
  tokensAt: null,
};

function attempt(attempts: number, answer: Partial<AnsweredAttempt> = {}): AnsweredAttempt {
  return {
    message: {
      claimId: 'claim',
      eventId: 'event',
      topic: 'task.created',
      entityKind: 'task',
      entityId: 'task',
      recordVersion: 1,
      actor: 'user:a',
      requestId: 'request',
      occurredAt: now,
      payload: {},
      attempts,
    },
    attemptedAt: now,
    durationMs: 1,
    status: 500,
    problem: null,
    response: '',
    retryAfter: null,
    ...answer,
  };
}

const msUntil = (at: Date | null) => (at === null ? null : at.getTime() - now.getTime());

describe('a failed attempt', () => {
  test('is followed by others after growing pauses, with up to a tenth more', () => {
    const pauses = (random: number) =>
      Array.from({ length: 10 }, (_none, count) => msUntil(outcomeOf(attempt(count), fresh, now, random).dueAt));
    const wanted = [5 * second, 5 * minute, 30 * minute, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hour)];
    expect(pauses(0)).toEqual([...wanted, null]);
    expect(pauses(1)).toEqual([...wanted.map((pause) => Math.round(pause * 1.1)), null]);
    expect(outcomeOf(attempt(9), fresh, now, 0).state).toBe('failed');
  });

  test.each([
    ['seconds', { status: 429, retryAfter: '120' }, 120 * second],
    ['a date', { status: 503, retryAfter: 'Sat, 31 Jan 2026 09:40:00 GMT' }, 10 * minute],
    ['a date of the past', { status: 503, retryAfter: 'Sat, 31 Jan 2026 09:00:00 GMT' }, null],
    ['a very long time', { status: 429, retryAfter: '999999999' }, 24 * hour],
    ['nothing that can be read', { status: 429, retryAfter: 'soon' }, 30 * second],
    ['nothing, with 429', { status: 429 }, 30 * second],
    ['nothing, with 502', { status: 502 }, 30 * second],
    ['nothing, with 504', { status: 504 }, 30 * second],
    ['nothing, with 500', { status: 500 }, null],
  ])('holds the endpoint back when it asks for a pause: %s', (_name, answer, pause) => {
    const { queue, dueAt } = outcomeOf(attempt(0, answer), fresh, now, 0);
    expect(msUntil(queue.blockedUntil)).toBe(pause);
    expect(msUntil(dueAt)).toBe(Math.max(5 * second, pause ?? 0));
  });

  test('after four others makes the endpoint get one message at a time, with growing pauses of up to half an hour', () => {
    let queue = fresh;
    const blocked: (number | null)[] = [];
    for (let count = 0; count < 16; count++) {
      ({ queue } = outcomeOf(attempt(0), { ...queue, blockedUntil: null }, now, 0));
      blocked.push(msUntil(queue.blockedUntil));
    }
    expect(blocked.slice(0, 7)).toEqual([null, null, null, null, 5 * second, 10 * second, 20 * second]);
    expect(blocked.at(-1)).toBe(30 * minute);
    expect([inFlightLimit({ ...fresh, failures: 4 }, 7), inFlightLimit(queue, 7)]).toEqual([7, 1]);
    const success = outcomeOf(attempt(0, { status: 200 }), queue, now, 0);
    expect(success).toMatchObject({ queue: fresh, state: 'delivered', dueAt: null });
  });

  test('is told of once after a day without success, and disables the endpoint after five', () => {
    const since = (hours: number) => ({ ...fresh, failures: 1, failingSince: new Date(now.getTime() - hours * hour) });
    expect(outcomeOf(attempt(0), since(23), now, 0)).not.toHaveProperty('isToTell');
    const told = outcomeOf(attempt(0), since(24), now, 0);
    expect(told).toMatchObject({ isToTell: true, queue: { toldAt: now } });
    expect(outcomeOf(attempt(0), told.queue, now, 0)).not.toHaveProperty('isToTell');
    expect(outcomeOf(attempt(0), since(119), now, 0)).not.toHaveProperty('disabled');
    expect(outcomeOf(attempt(0), since(120), now, 0).disabled).toBe('failing');
    expect(outcomeOf(attempt(0, { status: 410 }), fresh, now, 0).disabled).toBe('gone');
  });

  test('may have a status of success', () => {
    const answer = { status: 200, problem: 'its answer has a content coding that was not asked for' };
    expect(outcomeOf(attempt(0, answer), fresh, now, 0).state).toBe('due');
  });
});

test('an endpoint gets a second of messages at once, and then as many as its rate allows', () => {
  expect(refilled(fresh, 10, now)).toBe(10);
  const spent = { ...fresh, tokens: 0, tokensAt: now };
  const after = (ms: number) => refilled(spent, 10, new Date(now.getTime() + ms));
  expect([after(0), after(500), after(1_000), after(60_000)]).toEqual([0, 5, 10, 10]);
  // The clock of another process may be behind.
  expect(after(-5_000)).toBe(0);
});

test('a message is signed as the library of Standard Webhooks signs it, with each of its secrets', () => {
  const message = { id: '01M84B9V1VC8J1D3WFAF3FJM27', at: now, body: '{"type":"task.created","é":"\\u0000"}' };
  const secrets = ['a key of 24 bytes: 12345', 'another one of 26 bytes: 67'].map(
    (key) => `whsec_${Buffer.from(key).toString('base64')}`,
  );
  const wanted = secrets.map((secret) => new Webhook(secret).sign(message.id, message.at, message.body));
  expect(messageHeaders(message, secrets)['webhook-signature']).toBe(wanted.join(' '));
});

test('a process is full while it holds long bodies, and has room again once they are sent', async () => {
  const held = new HeldBodies();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const long = 'x'.repeat(4_000_000);
  const sent = Array.from({ length: 8 }, () => held.during(long, () => answered));
  expect(held.isFull).toBe(true);
  answer();
  await Promise.all(sent);
  await expect(held.during(long, () => Promise.reject(new Error('broken off')))).rejects.toThrow('broken off');
  expect(held.isFull).toBe(false);
});

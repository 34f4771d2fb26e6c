import { expect, test } from 'vitest';
import { retryAfterMs } from '#entities/kit/base/retry-after.ts';
import { chatOutcome } from '#activities/clients/chat/chat-message.ts';
import { outcomeOf } from '#activities/webhooks/next-attempt.ts';

const now = new Date('2026-11-23T20:00:00Z');
const day = 86_400_000;

test.each<[string | null | undefined, number | undefined]>([
  ['0', 0],
  ['120', 120_000],
  ['9999999', day],
  ['9'.repeat(400), day],
  ['Mon, 23 Nov 2026 20:02:00 GMT', 120_000],
  ['Monday, 23-Nov-26 20:02:00 GMT', 120_000],
  ['Mon, 23 Nov 2026 19:00:00 GMT', 0],
  ['Mon, 23 Nov 2099 20:00:00 GMT', day],
  ['', undefined],
  [null, undefined],
  [undefined, undefined],
  ['-5', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['2026', 2_026_000],
  ['2027-01-01', undefined],
])('Retry-After: %j asks for %j milliseconds', (header, expected) => {
  expect(retryAfterMs(header, now)).toBe(expected);
});

test('a date counts wherever the header does', () => {
  const retryAfter = 'Mon, 23 Nov 2026 20:02:00 GMT';
  const target = { as: 'webhook', url: 'https://chat.example.com' } as const;
  expect(chatOutcome(target, { status: 429, body: '', retryAfter }, now).retryAfterMs).toBe(120_000);
  const message = { attempts: 0 } as never;
  const attempt = { message, attemptedAt: now, durationMs: 1, status: 429, problem: null, response: '', retryAfter };
  const queue = { failures: 0, failingSince: null, toldAt: null, blockedUntil: null, tokens: null, tokensAt: null };
  expect(outcomeOf(attempt, queue, now, 0).dueAt).toEqual(new Date(now.getTime() + 120_000));
});

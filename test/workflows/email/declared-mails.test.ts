import { expect, test } from 'vitest';
import { mailListeners } from '#activities/listeners/mail-listeners.ts';
import { listenersIn } from '#activities/listeners/index.ts';
import type { Delivery } from '#activities/listeners/listener.ts';
import { defineMail } from '#activities/mails/define-mail.ts';
import { declaredIn, mailNamed, mails } from '#activities/mails/index.ts';
import { tag } from '#entities/index.ts';
import { on } from '#entities/kit/model/events.ts';

// Mails and listeners are found by the names of their files, so that a new one is entered in no list.

const text = { subject: 'Subject', paragraphs: [] };

test('a file without a mail, one with two, and one with another name than its mail are refused', () => {
  const one = defineMail('one', { text });
  const two = defineMail('two', { text });
  expect(declaredIn([{ path: 'a/one.mail.ts', exports: { one, limit: 3 } }])).toEqual([one]);
  for (const exports of [{ limit: 3 }, { one, two }])
    expect(() => declaredIn([{ path: 'a/one.mail.ts', exports }])).toThrow('must export one mail or notification');
  expect(() => declaredIn([{ path: 'a/one.mail.ts', exports: { two } }])).toThrow('must be named two.mail.ts');
});

test('a mail that follows events needs an audience, and one with values needs a sample', () => {
  // @ts-expect-error: nobody would get it
  expect(defineMail('unaddressed', { text, follows: [on(tag, 'created')] }).audience).toBe(undefined);
  // @ts-expect-error: the preview would have no values
  expect(defineMail('unseen', { values: () => ({ name: 'x' }), text: () => text }).sample).toBe(undefined);
});

test('a file without a listener is refused', () => {
  expect(() => listenersIn({ path: 'a.listener.ts', exports: { limit: 3 } })).toThrow('must export a listener');
});

test('every mail that can be ended goes after mails about accounts and security', () => {
  expect(mailNamed('invite')?.unsubscribesFrom).toBe('invitations');
  const early = mails.filter(({ unsubscribesFrom, priority = 1 }) => unsubscribesFrom !== undefined && priority === 1);
  expect(early.map(({ name }) => name)).toEqual([]);
});

test('mails of one listener are sent by one delivery: each of the topics that it follows, when its condition holds', async () => {
  const common = { listener: 'mail-tag', text, audience: () => [{ userId: 'one' }, { key: 'own', userId: 'two' }] };
  const [listener, ...others] = mailListeners([
    defineMail('tag-created', { ...common, follows: [on(tag, 'created')], priority: 3 }),
    defineMail('tag-changed', { ...common, follows: [on(tag, 'created'), on(tag, 'updated')], condition: () => false }),
    defineMail('tag-deleted', { ...common, follows: [on(tag, 'deleted')] }),
    defineMail('tag-kept', { text }),
  ]);
  expect(others).toEqual([]);
  expect(listener).toMatchObject({ name: 'mail-tag', topics: ['tag.created', 'tag.updated', 'tag.deleted'] });
  const started: unknown[] = [];
  const start: Delivery['start'] = (_contract, input) => started.push(input);
  await listener?.deliver({ event: { topic: 'tag.created' }, key: 'event/mail-tag', start } as unknown as Delivery);
  expect(started).toEqual([
    { key: 'event/mail-tag', template: 'tag-created', priority: 3, userId: 'one' },
    { key: 'own', template: 'tag-created', priority: 3, userId: 'two' },
  ]);
});

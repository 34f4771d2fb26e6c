import { describe, expect, test } from 'vitest';
import { deletionTime, lifecycleOf, noticeDelayS, type LifecycleFacts } from '#entities/organizations/lifecycle.ts';
import { nextStepOf } from '#entities/organizations/next-step.ts';

const dayMs = 86_400_000;
const born = new Date('2026-01-10T12:00:00Z');
/** So many days after the organization was created. */
const day = (days: number, ms = 0) => new Date(born.getTime() + days * dayMs + ms);
const settings = { paymentmethodinterval: 30, deletiondays: 7 };

/** An organization that nobody pays for. */
const unpaid: LifecycleFacts = {
  createdAt: born,
  isPersonal: false,
  parentId: null,
  settingsId: 'settings',
  billingReadAt: born,
  isBypassed: false,
  hasPaymentMethod: false,
  subscriptionStatuses: [],
  subscriptionsEndAt: null,
  trialEndsAt: null,
  isGranted: false,
  grantsEndAt: null,
  markedForDeletionAt: null,
  deletionNotBefore: null,
  deletionNotice: null,
  deletionRequesterId: null,
  sparedUntil: null,
};

/** The same, marked on its 31st day. */
const marked: LifecycleFacts = {
  ...unpaid,
  markedForDeletionAt: day(31),
  deletionNotBefore: day(38),
  deletionNotice: 'marked',
};

/** What happens: the action, with the notice or with what spares; `-` for nothing. */
function outcome(facts: Partial<LifecycleFacts>, now: Date, changed: Partial<typeof settings> = {}): string {
  const decided = lifecycleOf({ ...unpaid, ...facts }, { ...settings, ...changed }, now);
  if (decided.action === 'announce') return `announce ${decided.notice}`;
  return decided.action === 'spare' ? `spare ${decided.because}` : (decided.action ?? '-');
}

describe('an organization without a mark', () => {
  test.each([
    ['on the day of the interval', {}, day(30), '-'],
    ['a moment later', {}, day(30, 1), 'mark'],
    ['a year later', {}, day(365), 'mark'],
    ['created in the future', {}, day(-1), '-'],
    ['that is personal', { isPersonal: true }, day(60), '-'],
    ['below another one', { parentId: 'parent' }, day(60), '-'],
    ['without settings', { settingsId: null }, day(60), '-'],
    ['whose customer was never read', { billingReadAt: null }, day(60), '-'],
    ['of an exempt domain', { isBypassed: true }, day(60), '-'],
    ['with a payment method', { hasPaymentMethod: true }, day(60), '-'],
    ['with an active subscription', { subscriptionStatuses: ['canceled', 'active'] }, day(60), '-'],
    ['with a subscription on trial', { subscriptionStatuses: ['trialing'] }, day(60), '-'],
    ['with an overdue subscription', { subscriptionStatuses: ['past_due'] }, day(60), 'mark'],
    ['with ended subscriptions', { subscriptionStatuses: ['canceled', 'unpaid', 'paused'] }, day(60), 'mark'],
    ['on trial', { trialEndsAt: day(60, 1) }, day(60), '-'],
    ['whose trial ends now', { trialEndsAt: day(60) }, day(60), 'mark'],
    ['with a grant', { isGranted: true }, day(60), '-'],
    ['spared until later', { sparedUntil: day(60, 1) }, day(60), '-'],
    ['spared until now', { sparedUntil: day(60) }, day(60), 'mark'],
  ] satisfies [string, Partial<LifecycleFacts>, Date, string][])('%s', (_what, facts, now, expected) => {
    expect(outcome(facts, now)).toBe(expected);
  });
});

describe('a marked organization', () => {
  test.each([
    ['at its mark', {}, day(31), '-'],
    ['with the clock set back', {}, day(20), '-'],
    ['that was not announced', { deletionNotice: null }, day(31), 'announce marked'],
    ['more than three days before', {}, day(35, -1), '-'],
    ['three days before', {}, day(35), 'announce three_days'],
    ['three days before, announced', { deletionNotice: 'three_days' }, day(35), '-'],
    ['one day before', { deletionNotice: 'three_days' }, day(37), 'announce one_day'],
    ['one day before, after an outage', {}, day(37), 'announce one_day'],
    ['a moment before its day', { deletionNotice: 'one_day' }, day(38, -1), '-'],
    ['on its day', { deletionNotice: 'one_day' }, day(38), 'delete'],
    ['on its day, after an outage', {}, day(40), 'delete'],
    ['postponed', { deletionNotBefore: day(50), deletionNotice: 'one_day' }, day(40), '-'],
    ['with a payment method on its day', { hasPaymentMethod: true }, day(38), 'spare payment_method'],
    ['with a subscription', { subscriptionStatuses: ['active'] }, day(32), 'spare subscription'],
    ['with a trial', { trialEndsAt: day(40) }, day(32), 'spare trial'],
    ['with a grant', { isGranted: true }, day(32), 'spare grant'],
    ['of a domain that is exempt now', { isBypassed: true }, day(32), 'spare bypass'],
    ['that an operator spares', { sparedUntil: day(90) }, day(38), 'spare operator'],
    ['whose customer is unknown again', { billingReadAt: null }, day(38), '-'],
    ['that an owner has announced', { deletionRequesterId: 'owner' }, day(38), '-'],
    [
      'that an owner has announced and that pays',
      { deletionRequesterId: 'owner', hasPaymentMethod: true },
      day(38),
      '-',
    ],
  ] satisfies [string, Partial<LifecycleFacts>, Date, string][])('%s', (_what, facts, now, expected) => {
    expect(outcome({ ...marked, ...facts }, now)).toBe(expected);
  });
});

describe('other settings', () => {
  test('a longer time applies at once, and a shorter one overtakes no notice', () => {
    expect(deletionTime(marked, { deletiondays: 7 })).toEqual(day(38));
    expect(deletionTime(marked, { deletiondays: 14 })).toEqual(day(45));
    expect(deletionTime(marked, { deletiondays: 1 })).toEqual(day(38));
    expect(outcome(marked, day(38), { deletiondays: 14 })).toBe('-');
    expect(outcome(marked, day(35), { deletiondays: 1 })).toBe('announce three_days');
    expect(outcome(marked, day(34), { deletiondays: 1 })).toBe('-');
  });

  test('a longer interval keeps from new marks alone', () => {
    expect(outcome({}, day(40), { paymentmethodinterval: 60 })).toBe('-');
    expect(outcome(marked, day(38), { paymentmethodinterval: 60 })).toBe('delete');
  });
});

describe('the next step', () => {
  const onTrial = { subscriptionStatuses: ['trialing'], subscriptionsEndAt: day(60), trialEndsAt: day(60) };
  test.each([
    ['of a young organization', {}, day(10), day(30, 1), 'mark'],
    ['on trial', onTrial, day(40), day(60), 'mark'],
    ['on trial, with a payment method', { ...onTrial, hasPaymentMethod: true }, day(40), undefined, undefined],
    ['on trial that has ended, before that was read', onTrial, day(61), undefined, undefined],
    ['with a subscription that continues', { subscriptionStatuses: ['active'] }, day(40), undefined, undefined],
    ['with a grant', { isGranted: true, grantsEndAt: day(50) }, day(40), day(50), 'mark'],
    ['with a grant without an end', { isGranted: true }, day(40), undefined, undefined],
    ['with both', { ...onTrial, isGranted: true, grantsEndAt: day(70) }, day(40), day(70), 'mark'],
    ['after a mark', marked, day(32), day(35), 'announce'],
  ] satisfies [string, Partial<LifecycleFacts>, Date, Date | undefined, string | undefined][])(
    '%s',
    (_what, facts, now, at, action) => {
      const expected = at && action ? { at, action } : undefined;
      expect(nextStepOf({ ...unpaid, ...facts }, settings, now)).toEqual(expected);
    },
  );
});

test('notices of one run are spread until the next run, and none waits for more than a quarter of the time that is left', () => {
  const everyMs = dayMs / 4;
  const delays = (leftMs: number) =>
    Array.from({ length: 50_000 }, (_none, position) => noticeDelayS(position, { everyMs, leftMs }));
  expect(delays(7 * dayMs).slice(0, 3)).toEqual([0, 1, 2]);
  expect(Math.max(...delays(7 * dayMs))).toBe(6 * 3_600 - 1);
  expect(Math.max(...delays(dayMs / 12))).toBe(1_800 - 1);
  expect(new Set([...delays(0), ...delays(-dayMs)])).toEqual(new Set([0]));
});

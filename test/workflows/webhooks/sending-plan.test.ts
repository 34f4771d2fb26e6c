import { describe, expect, test } from 'vitest';
import { lastPeriod, nextPeriod, nextTimeOfDay, timeOfDay } from '#activities/mails/local-time.ts';
import { sendingPlan, type Timing } from '#activities/listeners/notifications/sending-plan.ts';

const usual: Timing = {
  cadence: 'immediate',
  muteUntil: null,
  quietHoursStart: null,
  quietHoursEnd: null,
  isUnsubscribed: false,
  timeZone: 'Europe/Vienna',
};

function planAt(now: string, timing: Partial<Timing>, toldAt = now) {
  return sendingPlan({ ...usual, ...timing }, { isDefault: false, toldAt: new Date(toldAt), now: new Date(now) });
}

const until = (instant: string) => ({ is: 'later', at: new Date(instant) });

test('without a preference, the default of the kind counts', () => {
  const at = { toldAt: new Date(), now: new Date() };
  expect(sendingPlan(undefined, { isDefault: true, ...at })).toEqual({ is: 'now' });
  expect(sendingPlan(undefined, { isDefault: false, ...at })).toEqual({ is: 'never' });
});

test('mute and unsubscribing mean never, and a pause lasts until its end', () => {
  expect(planAt('2026-06-01T12:00:00Z', { cadence: 'mute' })).toEqual({ is: 'never' });
  expect(planAt('2026-06-01T12:00:00Z', { isUnsubscribed: true })).toEqual({ is: 'never' });
  const muteUntil = new Date('2026-06-01T13:00:00Z');
  expect(planAt('2026-06-01T12:59:59Z', { muteUntil })).toEqual({ is: 'later', at: muteUntil });
  expect(planAt('2026-06-01T13:00:00Z', { muteUntil })).toEqual({ is: 'now' });
});

describe('quiet hours', () => {
  const night = { quietHoursStart: '22:00', quietHoursEnd: '07:00' };

  test.each([
    ['2026-06-01T19:59:59Z', { is: 'now' }],
    ['2026-06-01T20:00:00Z', until('2026-06-02T05:00:00Z')],
    ['2026-06-02T04:59:59Z', until('2026-06-02T05:00:00Z')],
    ['2026-06-02T05:00:00Z', { is: 'now' }],
  ])('over midnight, at %s', (now, plan) => expect(planAt(now, night)).toEqual(plan));

  test('within a day', () => {
    const noon = { quietHoursStart: '12:00', quietHoursEnd: '13:00' };
    expect(planAt('2026-06-01T10:30:00Z', noon)).toEqual(until('2026-06-01T11:00:00Z'));
    expect(planAt('2026-06-01T11:00:00Z', noon)).toEqual({ is: 'now' });
  });

  test('end an hour earlier in the night in which clocks are set forward', () => {
    // Vienna: 28 March 2027, from 2:00 to 3:00.
    expect(planAt('2027-03-27T05:00:00Z', night)).toEqual(until('2027-03-27T06:00:00Z'));
    expect(planAt('2027-03-27T22:00:00Z', night)).toEqual(until('2027-03-28T05:00:00Z'));
  });

  test('end an hour later in the night in which they are set back', () => {
    // Vienna: 25 October 2026, from 3:00 to 2:00.
    expect(planAt('2026-10-24T21:00:00Z', night)).toEqual(until('2026-10-25T06:00:00Z'));
  });

  test('that end at a time which clocks skip end when they are set', () => {
    const skipped = { quietHoursStart: '22:00', quietHoursEnd: '02:30' };
    expect(planAt('2027-03-28T00:30:00Z', skipped)).toEqual(until('2027-03-28T01:00:00Z'));
    expect(planAt('2027-03-28T01:00:00Z', skipped)).toEqual({ is: 'now' });
  });

  test('that end at a time which clocks show twice end both times', () => {
    const twice = { quietHoursStart: '22:00', quietHoursEnd: '02:30' };
    expect(planAt('2026-10-24T23:00:00Z', twice)).toEqual(until('2026-10-25T00:30:00Z'));
    expect(planAt('2026-10-25T00:30:00Z', twice)).toEqual({ is: 'now' });
    expect(planAt('2026-10-25T01:15:00Z', twice)).toEqual(until('2026-10-25T01:30:00Z'));
  });

  test('are those of their time zone', () => {
    expect(planAt('2026-06-01T20:30:00Z', { ...night, timeZone: 'America/New_York' })).toEqual({ is: 'now' });
    expect(planAt('2026-06-01T16:30:00Z', { ...night, timeZone: 'Asia/Kolkata' })).toEqual(
      until('2026-06-02T01:30:00Z'),
    );
  });
});

describe('collected messages', () => {
  test.each([
    ['daily', '2026-06-03T05:59:59Z', '2026-06-03', '2026-06-03T06:00:00Z'],
    ['daily', '2026-06-03T06:00:00Z', '2026-06-04', '2026-06-04T06:00:00Z'],
    ['weekly', '2026-06-03T12:00:00Z', '2026-06-08', '2026-06-08T06:00:00Z'],
    ['monthly', '2026-06-03T12:00:00Z', '2026-07-01', '2026-07-01T06:00:00Z'],
    ['monthly', '2026-12-31T12:00:00Z', '2027-01-01', '2027-01-01T07:00:00Z'],
    // Across the days on which clocks are set: always at 8 o'clock.
    ['daily', '2027-03-27T12:00:00Z', '2027-03-28', '2027-03-28T06:00:00Z'],
    ['daily', '2026-10-24T12:00:00Z', '2026-10-25', '2026-10-25T07:00:00Z'],
    ['weekly', '2027-03-26T12:00:00Z', '2027-03-29', '2027-03-29T06:00:00Z'],
  ] as const)('%s, told at %s, are sent on %s', (cadence, toldAt, name, sentAt) => {
    const period = nextPeriod(cadence, 'Europe/Vienna', new Date(toldAt));
    expect(period).toEqual({ name, sentAt: new Date(sentAt) });
    expect(lastPeriod(cadence, 'Europe/Vienna', period.sentAt)).toEqual(period);
    expect(planAt(toldAt, { cadence })).toEqual(until(sentAt));
    expect(planAt(sentAt, { cadence }, toldAt)).toEqual({ is: 'collected', cadence, period: name });
  });

  test('wait for the end of quiet hours, and belong to their day all the same', () => {
    const quiet = { cadence: 'daily', quietHoursStart: '07:00', quietHoursEnd: '10:00' } as const;
    expect(planAt('2026-06-02T06:00:00Z', quiet, '2026-06-01T12:00:00Z')).toEqual(until('2026-06-02T08:00:00Z'));
    const plan = { is: 'collected', cadence: 'daily', period: '2026-06-02' };
    expect(planAt('2026-06-02T08:00:00Z', quiet, '2026-06-01T12:00:00Z')).toEqual(plan);
  });
});

test('clocks of all zones agree with each other', () => {
  const at = new Date('2026-10-25T00:30:00Z');
  for (const zone of Intl.supportedValuesOf('timeZone')) {
    const shown = timeOfDay(at, zone);
    const later = nextTimeOfDay(shown, zone, at);
    const hours = (later.getTime() - at.getTime()) / 3_600_000;
    expect(hours, zone).toBeGreaterThan(0);
    expect(hours, zone).toBeLessThanOrEqual(25);
    expect(timeOfDay(later, zone).equals(shown), zone).toBe(true);
  }
});

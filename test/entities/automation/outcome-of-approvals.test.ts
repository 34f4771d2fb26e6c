import { describe, expect, test } from 'vitest';
import { outcomeOf, type Asked, type Quorum } from '#entities/automation/outcome.ts';

const action = (values: Partial<Quorum> = {}): Quorum => ({ key: 'a', isRequired: true, requiredCount: 0, ...values });

/** One person, `ann:approved`; further words say how they came to be asked. */
function asked(text: string): Asked {
  const [userId = '', status = 'pending', source = 'target', onBehalfOfId = null] = text.split(':');
  const isAdded = source.endsWith('escalated');
  const how = source === 'from-escalated' ? 'reassigned' : source;
  return {
    actionKey: 'a',
    userId,
    status,
    source: how,
    isAdded,
    onBehalfOfId,
    isVoid: status === 'cancelled',
  } as Asked;
}

const of = (quorum: Partial<Quorum>, ...people: string[]) => outcomeOf([action(quorum)], people.map(asked)).outcome;

describe('an approval of all who are asked', () => {
  test.each([
    ['waits for the last one', ['ann:approved', 'ben'], 'pending'],
    ['is satisfied by all', ['ann:approved', 'ben:approved'], 'satisfied'],
    ['is rejected by one', ['ann:approved', 'ben:rejected', 'cy'], 'rejected'],
    [
      'waits for the submitter when changes are requested',
      ['ann:approved', 'ben:changes_requested'],
      'changes_requested',
    ],
    ['is rejected although changes are requested, too', ['ann:rejected', 'ben:changes_requested'], 'rejected'],
    ['does not wait for people who have left', ['ann:approved', 'ben:cancelled'], 'satisfied'],
    ['is no consent when nobody is asked', [], 'unattended'],
    ['is no consent when everybody has left', ['ann:cancelled', 'ben:cancelled'], 'unattended'],
  ] as const)('%s', (_title, people, outcome) => {
    expect(of({}, ...people)).toBe(outcome);
  });
});

describe('an approval of two', () => {
  test.each([
    ['is satisfied by two of three', ['ann:approved', 'ben:approved', 'cy'], 'satisfied'],
    ['waits for the second', ['ann:approved', 'ben', 'cy'], 'pending'],
    ['is rejected when two are out of reach', ['ann:approved', 'ben:cancelled'], 'rejected'],
    ['is rejected by one', ['ann:rejected', 'ben', 'cy'], 'rejected'],
  ] as const)('%s', (_title, people, outcome) => {
    expect(of({ requiredCount: 2 }, ...people)).toBe(outcome);
  });
});

describe('an approval that is not required', () => {
  test.each([
    ['needs one', ['ann:approved', 'ben', 'cy'], 'satisfied'],
    ['is not ended by one rejection', ['ann:rejected', 'ben'], 'pending'],
    ['is satisfied after a rejection', ['ann:rejected', 'ben:approved'], 'satisfied'],
    ['is rejected when nobody is left', ['ann:rejected', 'ben:rejected'], 'rejected'],
    [
      'waits for the submitter when nobody else is left',
      ['ann:rejected', 'ben:changes_requested'],
      'changes_requested',
    ],
    ['is no consent when nobody is asked', [], 'unattended'],
  ] as const)('%s', (_title, people, outcome) => {
    expect(of({ isRequired: false }, ...people)).toBe(outcome);
  });
});

describe('people who were added', () => {
  test('a delegate and the person whom they stand for are one approval', () => {
    expect(of({ requiredCount: 2 }, 'ann:approved', 'del:approved:delegated:ann', 'ben')).toBe('pending');
    expect(of({}, 'ann', 'del:approved:delegated:ann', 'ben:approved')).toBe('satisfied');
  });

  test('a rejection of a delegate weighs as much as one of the person', () => {
    expect(of({}, 'ann:approved', 'del:rejected:delegated:ann')).toBe('rejected');
  });

  test('people of an escalation approve in the place of others, and do not raise the number', () => {
    expect(of({}, 'ann', 'ben', 'boss:approved:escalated')).toBe('pending');
    expect(of({}, 'ann:approved', 'ben', 'boss:approved:escalated')).toBe('satisfied');
  });

  test('so do those who decide instead of them', () => {
    const people = ['ann:approved', 'ben', 'boss:cancelled:escalated', 'chief:approved:from-escalated'];
    expect(of({}, ...people)).toBe('satisfied');
    expect(of({}, 'ann:approved', 'ben', 'chief:pending:from-escalated')).toBe('pending');
  });

  test('when only people of an escalation are asked, all of them approve', () => {
    expect(of({}, 'boss:approved:escalated', 'chief:pending:escalated')).toBe('pending');
    expect(of({}, 'boss:approved:escalated', 'chief:approved:escalated')).toBe('satisfied');
  });
});

describe('several actions', () => {
  const both = [action(), action({ key: 'b' })];
  const other = (text: string) => ({ ...asked(text), actionKey: 'b' });

  test('are satisfied when all are', () => {
    expect(outcomeOf(both, [asked('ann:approved'), other('ben')]).outcome).toBe('pending');
    expect(outcomeOf(both, [asked('ann:approved'), other('ben:approved')]).outcome).toBe('satisfied');
  });

  test('are rejected by one of them', () => {
    expect(outcomeOf(both, [asked('ann'), other('ben:rejected')]).outcome).toBe('rejected');
  });

  test('without any, nothing is satisfied', () => {
    expect(outcomeOf([], []).outcome).toBe('unattended');
  });
});

test('a void decision is none', () => {
  const approved = { ...asked('ann:approved'), isVoid: true };
  expect(outcomeOf([action()], [approved, asked('ben:approved')]).outcome).toBe('satisfied');
  expect(outcomeOf([action()], [approved]).outcome).toBe('unattended');
});

test('a deadline that has passed decides', () => {
  expect(outcomeOf([action()], [asked('ann')], { a: 'rejected' }).outcome).toBe('rejected');
  expect(outcomeOf([action()], [asked('ann')], { a: 'satisfied' }).outcome).toBe('satisfied');
  // Those who decided in time have decided, also when it is counted later.
  expect(outcomeOf([action()], [asked('ann:approved')], { a: 'rejected' }).outcome).toBe('satisfied');
  expect(outcomeOf([action()], [asked('ann:rejected')], { a: 'satisfied' }).outcome).toBe('rejected');
});

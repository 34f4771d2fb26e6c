import { expect, test } from 'vitest';
import { organization, registry, task, user } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { callerOf, type Caller } from '#entities/kit/model/caller.ts';
import { deniedMessage } from '#entities/kit/model/denied-message.ts';

const person = (more: Partial<Caller>) =>
  callerOf({ kind: 'user', subjectId: newId(), organizationId: newId(), role: 'member', ...more });
const taskShare = registry.byKind('taskShare');

test('an auditor is told that auditors only read, and not whom the rules allow it', () => {
  const caller = person({ role: 'auditor' });
  for (const operation of ['create', 'edit', 'remove'] as const) {
    const message = deniedMessage(task, { operation, caller, row: {} });
    expect(message).toContain('Auditors only read');
    expect(message).not.toContain('The rules allow it');
  }
});

test('a token is told the scope that it lacks, and whoever acts as somebody else that they do', () => {
  const token = person({ limits: ['can_view_task'] });
  expect(deniedMessage(task, { operation: 'edit', caller: token })).toBe(
    'You may not edit this Task. This token does not have the scope task:write.',
  );
  const delegation = { id: newId(), type: 'impersonation', actorId: newId(), actorName: 'a', expiresAt: '' } as const;
  const delegate = person({ limits: [], delegation });
  expect(deniedMessage(task, { operation: 'edit', caller: delegate })).toContain('acts as another user');
});

test('a session of single sign-on is told that it is valid for one organization', () => {
  const caller = person({ singleSignOnId: newId() });
  expect(deniedMessage(user, { operation: 'remove', caller })).toContain('single sign-on');
});

test('of a share that blocks, the right that it needs is named', () => {
  const denied = { operation: 'remove', caller: person({}), row: { relation: 'blocked' } } as const;
  expect(deniedMessage(taskShare, denied)).toBe(
    'You may not remove this TaskShare. A relation that is blocked needs the right to remove the task.',
  );
  expect(deniedMessage(taskShare, { ...denied, row: { relation: 'editor' } })).toContain(
    'people who may edit its task',
  );
});

test('roles are not named where they give no right', () => {
  const message = deniedMessage(task, { operation: 'edit', caller: person({ outOfContext: ['task'] }) });
  expect(message).toContain('authz.parentcontextskipkinds');
  expect(message).not.toContain('the roles');
  expect(deniedMessage(task, { operation: 'edit', caller: person({}) })).toContain('the roles');
});

test('otherwise it says to whom the rules give the right', () => {
  expect(deniedMessage(organization, { operation: 'remove', caller: person({}) })).toContain('The rules allow it for');
});

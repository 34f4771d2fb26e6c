import { expect, test } from 'vitest';
import { registry, integrationWebhook, notification, organization, tag, task } from '#entities/index.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { historyOf } from '#entities/kit/model/derived/history-kind.ts';
import { decidingKinds } from '#entities/kit/read/deciding-kinds.ts';

const kindsOf = (module: EntityModule) => [...decidingKinds(registry, module)].map(({ kind }) => kind);

test('a kind whose rules look at no other one is alone', () => {
  expect(kindsOf(tag)).toEqual(['tag']);
});

test.each([
  ['shares and files of the kind', task, ['taskShare', 'taskFile']],
  ['memberships, for an organization', organization, ['membership']],
  ['records that a notification is about, and what their rules look at', notification, ['task', 'note', 'taskShare']],
] as const)('what is seen of a kind depends on %s', (_what, module, others) => {
  expect(kindsOf(module)).toEqual(expect.arrayContaining([module.kind, ...others]));
});

test('a history depends on the records of its kind, and on their parents, which decide once they are deleted', () => {
  expect(kindsOf(historyOf(integrationWebhook))).toEqual(expect.arrayContaining(['integrationWebhook', 'integration']));
  expect(kindsOf(historyOf(task))).toEqual(expect.arrayContaining(['task', 'taskShare']));
});

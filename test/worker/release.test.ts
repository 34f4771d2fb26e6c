import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { billingEmailsBackfill } from '#activities/backfills/billing-emails.backfill.ts';
import { backfillsOf } from '#activities/backfills/release-backfills.ts';
import { activityQueues as configuredQueues } from '#config/objects/jobqueue/queueconf.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { deliveryQueue } from '#workflows/events/deliver-event.contract.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineContract } from '#workflows/kit/contract.ts';
import type { MaintenanceInput } from '#workflows/kit/maintenance-queue.ts';
import { activitiesOf } from '#worker/release-activities.ts';
import { releaseWorkflows, workflowsOf } from '#worker/release-workflows.ts';

// What is found by the names of files, so that a new workflow is entered in no list.

test('the contracts that are found are those that the rest of the product imports', () => {
  expect(releaseWorkflows.map(({ contract }) => contract)).toContain(sendEmailContract);
});

test('a file without a contract, and two workflows of one name, are refused', () => {
  expect(() => workflowsOf([{ path: 'a.contract.ts', exports: { maxSize: 1 } }])).toThrow(
    'a.contract.ts must export one contract',
  );
  const modules = ['a.contract.ts', 'b.contract.ts'].map((path) => ({ path, exports: { sendEmailContract } }));
  expect(() => workflowsOf(modules)).toThrow('b.ts: there is another workflow "sendEmail"');
});

test('a file without activities, and two activities of one name, are refused', () => {
  const dependencies = {} as Parameters<typeof activitiesOf>[1];
  expect(() => activitiesOf([{ path: 'a-activities.ts', exports: {} }], dependencies)).toThrow(
    'a-activities.ts must export one function create<Name>Activities',
  );
  const two = { createSomeActivities: () => ({}), createOtherActivities: () => ({}) };
  expect(() => activitiesOf([{ path: 'a-activities.ts', exports: two }], dependencies)).toThrow(
    'a-activities.ts must export one function create<Name>Activities',
  );
  const modules = ['a-activities.ts', 'b-activities.ts'].map((path) => ({
    path,
    exports: { createSomeActivities: () => ({ deliver: () => Promise.resolve() }) },
  }));
  expect(() => activitiesOf(modules, dependencies)).toThrow('b-activities.ts: there is another activity "deliver"');
});

test('a file without a backfill, and two backfills of one name, are refused', () => {
  expect(() => backfillsOf([{ path: 'a.backfill.ts', exports: {} }])).toThrow('a.backfill.ts must export one backfill');
  const modules = ['a.backfill.ts', 'b.backfill.ts'].map((path) => ({ path, exports: { billingEmailsBackfill } }));
  expect(() => backfillsOf(modules)).toThrow('there is another backfill "billing-emails"');
});

test('a contract names a task queue exactly when the input of its workflow has its settings', () => {
  const name = 'typedOnly';
  const workflowId = () => 'typed-only';
  // @ts-expect-error: `queue` is missing
  expect(defineContract<MaintenanceInput>({ name, workflowId }).queue).toBe(undefined);
  // @ts-expect-error: the workflow would not know the queue
  expect(defineContract<{ readonly id: string }>({ name, workflowId, queue: 'email' }).queue).toBe('email');
});

const byName = releaseWorkflows.map((workflow) => ({ name: workflow.contract.name, ...workflow }));

describe.each(byName)('$name', ({ name, contract, path, sweep }) => {
  test('has its workflow beside its contract, under the same name, or is made for a sweep', async () => {
    if (sweep) return expect(basename(path)).toBe('sweep-records.ts');
    expect(basename(path, '.ts')).toBe(snakeCase(name).replaceAll('_', '-'));
    expect(await readFile(path, 'utf8')).toMatch(new RegExp(`^export async function ${name}\\(`, 'mu'));
  });

  test('has its activities on a queue that jobqueue.queueconf.Queues accepts', () => {
    if (contract.queue !== undefined) expect([...configuredQueues, deliveryQueue]).toContain(contract.queue);
  });
});

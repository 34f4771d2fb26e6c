import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { activityQueues as configuredQueues } from '#config/objects/queueconf.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { deliveryQueue } from '#workflows/events/deliver-event.contract.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { releaseWorkflows } from '#worker/release-workflows.ts';

// What is found by the names of files, so that a new workflow is entered in no list.

test('the contracts that are found are those that the rest of the product imports', () => {
  expect(releaseWorkflows.map(({ contract }) => contract)).toContain(sendEmailContract);
  const names = releaseWorkflows.map(({ contract }) => contract.name);
  expect(names).toEqual([...new Set(names)]);
});

describe.each(releaseWorkflows.map(({ contract, path }) => ({ name: contract.name, contract, path })))(
  '$name',
  ({ name, contract, path }) => {
    test('has its workflow beside its contract, under the same name', async () => {
      expect(basename(path, '.ts')).toBe(snakeCase(name).replaceAll('_', '-'));
      expect(await readFile(path, 'utf8')).toMatch(new RegExp(`^export async function ${name}\\(`, 'mu'));
    });

    test('has its activities on a queue that jobqueue.queueconf.Queues accepts', () => {
      if (contract.queue !== undefined) expect([...configuredQueues, deliveryQueue]).toContain(contract.queue);
    });
  },
);

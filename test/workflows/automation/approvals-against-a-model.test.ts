import { expect, inject, test } from 'vitest';
import { ApprovalRun } from '../../kit/automation/approval-run.ts';
import { seedOf, timesOf } from '../../kit/depth.ts';
import { recordTried } from '../../kit/tried.ts';
import { openWorld } from '../../kit/world.ts';

const steps = timesOf({ sample: 150, prove: 1_000 });

test('after random steps of several people, rows and records are those of a model, and nothing is written without a quorum of today', async () => {
  const world = await openWorld({ environment: { CORE_WORKFLOWS_ENABLED: 'true' } });
  try {
    const run = await ApprovalRun.open(world, seedOf('approvals against a model'));
    await run.run(steps).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`TEST_SEED=${inject('seed')}: ${message}`, { cause: error });
    });
    recordTried('steps of approvals', steps);
    // Both ends and most refusals are common, or little was compared.
    const { completed, rejected } = run.ended;
    expect(completed + rejected).toBeGreaterThan(steps / 50);
    // A sample can have few of one sort.
    expect(Math.min(completed, rejected)).toBeGreaterThanOrEqual(Math.floor(steps / 200));
    expect([...run.answers.keys()]).toEqual(expect.arrayContaining(['taken', 'not_found', 'already_decided']));
  } finally {
    await world.close();
  }
});

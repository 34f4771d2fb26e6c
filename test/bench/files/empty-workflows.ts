import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { newId } from '#entities/kit/base/ids.ts';

/** As many as the relay starts at once. */
const startedAtOnce = 50;

const taskQueue = 'bench-empty';
const silent = () => {};

export interface EmptyWorkflows {
  /** Runs so many. @returns when the last of their activities has run */
  run(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** A plain worker with one workflow of one empty activity. */
export async function startEmptyWorkflows(address: string): Promise<EmptyWorkflows> {
  const connection = await NativeConnection.connect({ address });
  let left = 0;
  let finish = silent;
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('empty-workflow.ts', import.meta.url)),
      logger: { log: silent, trace: silent, debug: silent, info: silent, warn: silent, error: silent },
    }),
    activities: {
      doNothing: async () => {
        if (--left === 0) finish();
      },
    },
  });
  const running = worker.run();
  const client = new Client({ connection });
  return {
    run: async (count) => {
      left = count;
      const finished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      for (let started = 0; started < count; started += startedAtOnce)
        await Promise.all(
          Array.from({ length: Math.min(startedAtOnce, count - started) }, () =>
            client.workflow.start('emptyWorkflow', { taskQueue, workflowId: newId() }),
          ),
        );
      await finished;
    },
    stop: async () => {
      worker.shutdown();
      await running;
      await connection.close();
    },
  };
}

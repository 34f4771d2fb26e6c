import { NativeConnection, Worker, type NativeConnectionOptions } from '@temporalio/worker';
import { encryptedDataConverter } from '#activities/clients/temporal/temporal-client.ts';
import { failureInterceptor } from '#worker/interceptors/failures.ts';
import { heartbeatInterceptor } from '#worker/interceptors/heartbeat.ts';
import type { World } from '../world.ts';

/** A worker of a test for the activities of one queue, which the worker of the world does not have. @returns how it stops */
export async function startOwnWorker(
  { runtime: { temporal } }: World,
  queue: string,
  activities: object,
): Promise<() => Promise<void>> {
  const connection = await NativeConnection.connect({
    address: temporal.settings.address,
    ...temporal.settings.credentials,
  } as NativeConnectionOptions);
  const worker = await Worker.create({
    connection,
    namespace: temporal.settings.namespace,
    dataConverter: encryptedDataConverter(temporal.codec),
    taskQueue: temporal.taskQueue(queue),
    activities,
    interceptors: { activity: [heartbeatInterceptor, failureInterceptor] },
  });
  const running = worker.run();
  return async () => {
    worker.shutdown();
    await running;
    await connection.close();
  };
}

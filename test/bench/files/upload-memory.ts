import { setTimeout as pause } from 'node:timers/promises';
import { median, type Bench, type BenchRow } from '../row.ts';
import { storedFile } from './download-rate.ts';
import { largeBytes, withFiles } from './file-installation.ts';
import { forgetPeak, memoryOf } from './process-usage.ts';

/** `objectstorage.maxmemorymb` by default, and what a process may need besides. */
const maxMemoryMb = 32;
const allowanceMb = 64;

const parallelUploads = 200;
const parallelBytes = 16 * 1_048_576;

/** The most resident memory of an API process while files pass through it, without what it has while idle. */
export const uploadMemory: Bench = {
  name: 'upload-memory',
  run: (say) =>
    withFiles({}, async (installation) => {
      const { api, authorization, send, deleteFiles } = installation;
      const upload = (sizeBytes: number, connections: number) =>
        send({
          url: api.url,
          method: 'POST',
          path: '/v1/uploads',
          headers: { authorization },
          sizeBytes,
          isForm: true,
          connections,
        });
      // All code was run once.
      await upload(1_048_576, 20);
      const rows: BenchRow[] = [];
      const measure = async (name: string, note: string, work: () => Promise<unknown>) => {
        const idle = await idleMemory(api.pid);
        forgetPeak(api.pid);
        await work();
        const { peak } = memoryOf(api.pid);
        say(`${name}: ${Math.round(idle)} MB idle, ${Math.round(peak)} MB at most`);
        const [ours, reference] = [peak - idle, maxMemoryMb + allowanceMb];
        rows.push({ name, unit: 'MB', ours, reference, ratio: reference / ours, spread: 0, note });
      };
      const large = `${Math.round(largeBytes / 1e6)} MB`;
      await measure('upload-memory-1g', `over idle, for a form of ${large}; reference: what is allowed`, () =>
        upload(largeBytes, 1),
      );
      const path = await storedFile(installation);
      await measure('upload-memory-download', `the same for a download of ${large}`, () =>
        send({ url: api.url, method: 'GET', path, headers: { authorization } }),
      );
      await deleteFiles();
      await measure('upload-memory-200', `the same for ${parallelUploads} parallel forms of 16 MB`, () =>
        upload(parallelBytes, parallelUploads),
      );
      return rows;
    }),
};

/** Memory of the process once nothing has happened for a while. */
async function idleMemory(pid: number): Promise<number> {
  const samples: number[] = [];
  for (let sample = 0; sample < 5; sample++) {
    await pause(1_000);
    samples.push(memoryOf(pid).now);
  }
  return median(samples.slice(-3));
}

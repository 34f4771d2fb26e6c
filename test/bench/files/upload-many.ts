import { pace } from '../pace.ts';
import type { Bench } from '../row.ts';
import { compareFiles, type Done } from './compare-files.ts';
import { withFiles } from './file-installation.ts';

const sizeBytes = 256 * 1_024;
const connections = 200;

export const uploadMany: Bench = {
  name: 'upload-200',
  run: (say) =>
    withFiles(
      // No record takes any of them.
      { settings: { CORE_OBJECTSTORAGE_MAXSIZEMB: '102400' } },
      ({ api, floor, authorization, send, deleteFiles }) => {
        const upload = async (url: string, path: string, headers: Readonly<Record<string, string>>): Promise<Done> => {
          const forMs = pace.roundMs;
          const load = { url, method: 'POST', path, headers, sizeBytes, isForm: true, connections, forMs } as const;
          const { answers, seconds } = await send(load);
          return { amount: answers, seconds };
        };
        return compareFiles({
          name: 'upload-200',
          unit: 'uploads',
          rounds: pace.rounds,
          ours: { pid: api.pid, work: () => upload(api.url, '/v1/uploads', { authorization }) },
          reference: { pid: floor.pid, work: () => upload(floor.url, '/rows', {}) },
          note: `forms with a file of 256 KB over ${connections} connections; reference: Fastify, busboy, SHA-256, fsync, one insert`,
          say,
          tidy: deleteFiles,
        });
      },
    ),
};

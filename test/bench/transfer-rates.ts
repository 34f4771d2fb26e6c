import { setTimeout as pause } from 'node:timers/promises';
import { ProductProcess } from '../kit/processes/spawned-process.ts';
import { openApiInstallation, type ApiInstallation } from './api-installation.ts';
import { forgetPeak, memoryOf } from './files/process-usage.ts';
import { insertTasks } from './records.ts';
import { median, spreadOf, type Bench, type BenchRow } from './row.ts';

/** Part of the rows, while something is being tried; figures that are told come from all. */
const share = Number(process.env['BENCH_ROWS_SHARE'] ?? 1);
const importRows = Math.round(10_000 * share);
const exportRows = Math.round(100_000 * share);
const rounds = 3;

/** Tasks a second that a worker imports from a document, and how much more memory a tenfold document needs. */
export const csvImport: Bench = {
  name: 'csv-import',
  run: (say) =>
    withWorker(async ({ pid, send, upload }) => {
      const run = async (rows: number) => {
        const lines = Array.from(
          { length: rows },
          (_none, index) => `task ${index},${index % 100},a;b,"some, details"\n`,
        );
        const content = await upload(`title,priority,tags,details\n${lines.join('')}`);
        return timed(send, 'imports', { record_kind: 'task', content }, rows);
      };
      return measured('csv-import', say, { pid, rows: importRows, run, what: 'tasks' });
    }),
};

/** Records a second that a worker writes into a document, and how much more memory a tenfold document needs. */
export const exportRecords: Bench = {
  name: 'export',
  run: (say) =>
    withWorker(async ({ pid, send, installation, addTasks }) => {
      await addTasks(installation, exportRows);
      // A tenth of the tasks has one of the lowest priorities.
      const run = (rows: number) =>
        timed(send, 'exports', {
          record_kind: 'task',
          ...(rows < exportRows ? { filters: { priority: { lt: 10 } } } : {}),
        });
      return measured('export', say, { pid, rows: exportRows, run, what: 'tasks as CSV' });
    }),
};

interface Timed {
  readonly rows: number;
  readonly seconds: number;
}

interface Measure {
  readonly pid: number;
  readonly rows: number;
  readonly run: (rows: number) => Promise<Timed>;
  readonly what: string;
}

async function measured(
  name: string,
  say: (line: string) => void,
  { pid, rows, run, what }: Measure,
): Promise<BenchRow[]> {
  // All code was run once.
  await run(rows / 10);
  const [few, many, rates]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    few.push((await peakDuring(pid, () => run(rows / 10))).peak);
    const { peak, result } = await peakDuring(pid, () => run(rows));
    many.push(peak);
    rates.push(result.rows / result.seconds);
    say(`round ${round + 1}: ${Math.round(rates.at(-1) ?? 0)} rows a second, ${Math.round(peak)} MB at most`);
  }
  const rate = median(rates);
  return [
    {
      name,
      unit: 'rows/s',
      ours: rate,
      reference: null,
      ratio: null,
      spread: spreadOf(rates),
      note: `${rows} ${what}, from the request to the end of the work`,
    },
    {
      name: `${name}-memory`,
      unit: 'MB',
      ours: median(many),
      reference: median(few),
      ratio: median(few) / median(many),
      spread: spreadOf(many),
      note: `most resident memory of the worker for ${rows} rows; reference: for ${rows / 10}`,
    },
  ];
}

async function peakDuring<T>(
  pid: number,
  work: () => Promise<T>,
): Promise<{ readonly peak: number; readonly result: T }> {
  forgetPeak(pid);
  const result = await work();
  return { peak: memoryOf(pid).peak, result };
}

type Send = (method: 'GET' | 'POST', path: string, body?: object) => Promise<Readonly<Record<string, unknown>>>;

/** From the request to the end of the work. */
async function timed(send: Send, path: string, body: object, expected?: number): Promise<Timed> {
  const startedAt = performance.now();
  const { id } = await send('POST', `/v1/${path}`, body);
  for (;;) {
    const { status, done_rows: rows, error_message: problem } = await send('GET', `/v1/${path}/${String(id)}`);
    const seconds = (performance.now() - startedAt) / 1_000;
    if (status === 'completed' && (expected === undefined || expected === rows)) return { rows: Number(rows), seconds };
    if (status !== 'pending' && status !== 'running') throw new Error(`${path}: ${String(status)} ${String(problem)}`);
    await pause(50);
  }
}

interface Working {
  readonly installation: ApiInstallation;
  /** Of the worker. */
  readonly pid: number;
  readonly send: Send;
  /** @returns id of the upload */
  readonly upload: (text: string) => Promise<string>;
  readonly addTasks: (installation: ApiInstallation, count: number) => Promise<void>;
}

async function withWorker<T>(use: (working: Working) => Promise<T>): Promise<T> {
  const installation = await openApiInstallation({
    CORE_ORMCONFIG_MAXSCHEMAIMPORTSIZE: '104857600',
    CORE_OBJECTSTORAGE_DEVMODE: 'true',
  });
  const { environment, url, people } = installation;
  const worker = new ProductProcess({ program: 'worker/worker-main.ts', environment, isSilent: true });
  try {
    await worker.ready;
    const [person] = people;
    if (!person) throw new Error('there is nobody');
    const authorization = `Bearer ${person.token}`;
    const answerOf = async (answer: Response) => {
      const body = (await answer.json()) as Readonly<Record<string, unknown>>;
      if (!answer.ok) throw new Error(JSON.stringify(body));
      return body;
    };
    return await use({
      installation,
      pid: worker.pid,
      send: async (method, path, body) =>
        answerOf(
          await fetch(url + path, {
            method,
            headers: { authorization, ...(body ? { 'content-type': 'application/json' } : {}) },
            ...(body ? { body: JSON.stringify(body) } : {}),
          }),
        ),
      upload: async (text) => {
        const form = new FormData();
        form.set('uploadFile', new File([text], 'tasks.csv', { type: 'text/csv' }));
        const body = await answerOf(
          await fetch(`${url}/v1/uploads`, { method: 'POST', headers: { authorization }, body: form }),
        );
        return (body['uploads'] as readonly { readonly id: string }[])[0]?.id ?? '';
      },
      addTasks: async ({ client }, count) => {
        await insertTasks(client, person, count);
        await client.query('analyze tasks');
      },
    });
  } finally {
    await worker.stop();
    await installation.close();
  }
}

import type { Listener } from '#activities/listeners/listener.ts';
import { eventually } from '../kit/eventually.ts';
import { ProductProcess } from '../kit/processes/spawned-process.ts';
import { openBenchInstallation, type BenchInstallation } from './installation.ts';
import { seedRecords, signIn, type BenchPerson, type BenchSignIn } from './records.ts';

export interface ApiInstallation {
  /** Address of our API process. */
  readonly url: string;
  /** Of that process. */
  readonly pid: number;
  readonly databaseUrl: string;
  /** What that process was started with. */
  readonly environment: Readonly<Record<string, string>>;
  /** Owners of as many organizations, with their tokens. */
  readonly people: readonly (BenchPerson & BenchSignIn)[];
  readonly client: BenchInstallation['client'];
  readonly startWorker: BenchInstallation['startWorker'];
  close(): Promise<void>;
}

/**
 * An installation with records of several organizations, and one API process of ours as it runs in production.
 * @param settings `CORE_…` variables of its processes
 * @param owners see `seedRecords`
 * @param listeners see `openBenchInstallation`
 */
export async function openApiInstallation(
  settings: Readonly<Record<string, string>> = {},
  owners?: number,
  listeners?: readonly Listener[],
): Promise<ApiInstallation> {
  const installation = await openBenchInstallation(settings, listeners);
  const { databaseUrl, client, environment } = installation;
  const seeded = await seedRecords(installation, owners);
  const api = new ProductProcess({ program: 'api/api-main.ts', environment, isSilent: true });
  await api.ready;
  // The line that says where may come after the message that it serves.
  await eventually(() => api.url !== '');
  const people = [];
  for (const person of seeded) people.push({ ...person, ...(await signIn(api.url, person)) });
  return {
    url: api.url,
    pid: api.pid,
    databaseUrl,
    environment,
    people,
    client,
    startWorker: () => installation.startWorker(),
    close: async () => {
      await api.stop();
      await installation.close();
    },
  };
}

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import { prepareNamespace } from '#activities/clients/temporal/temporal-admin.ts';
import { migrate } from '#migrations/migrator.ts';
import { startStack, type Stack } from '#temporal-dev/stack/start-stack.ts';
import { workflowBundle } from '#worker/build-bundle.ts';
import { createDatabase } from '#temporal-dev/servers/create-database.ts';
import { untilAvailable } from '../kit/until-available.ts';
import { testSecrets } from './secrets.ts';

/** What every test file gets: addresses of the one stack of this run. */
export interface TestStack {
  /** Connection URI of a database of the run's server, by name. */
  readonly postgresUrl: string;
  /** Migrated; test files clone it. */
  readonly template: string;
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly openfgaUrl: string;
  readonly bundlePath: string;
  /** Folder of this run, for files that tests write. */
  readonly folder: string;
}

/** The servers of a test stack, of which tests kill and restart some. */
export interface StartedTestStack {
  readonly stack: TestStack;
  readonly servers: Stack;
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Real servers on a state folder of their own, with a migrated template database and a namespace. */
export async function prepareTestStack(stateDir: string, report: (line: string) => void): Promise<StartedTestStack> {
  const folder = join(stateDir, 'run');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const [servers, bundlePath] = await Promise.all([
    startStack({ stateDir, profile: 'test', report }),
    workflowBundle(join(root, '.local', 'bundles')),
  ]);
  try {
    const { postgres, temporal, openfga } = servers;
    if (!postgres || !temporal || !openfga) throw new Error('the test stack needs PostgreSQL, Temporal and OpenFGA');
    const template = 'core_template';
    await createDatabase(postgres.url('postgres'), template);
    const namespace = `test-${Date.now()}`;
    const gateway = new TemporalGateway({
      address: temporal.address,
      namespace,
      prefix: 'setup',
      encryptionKey: testSecrets.encryptionKey,
    });
    await Promise.all([migrate(postgres.url(template)), untilAvailable(() => prepareNamespace(gateway, 86_400_000))]);
    await gateway.close();
    const stack = {
      postgresUrl: postgres.url('DATABASE'),
      template,
      temporalAddress: temporal.address,
      namespace,
      openfgaUrl: openfga.url,
      bundlePath,
      folder,
    };
    return { stack, servers };
  } catch (error) {
    await servers.stop();
    throw error;
  }
}

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { TemporalGateway } from '#activities/clients/temporal.ts';
import { prepareNamespace } from '#activities/clients/temporal-admin.ts';
import { migrate } from '#migrations/migrator.ts';
import { startStack } from '#temporal-dev/stack.ts';
import { workflowBundle } from '#worker/build-bundle.ts';
import { createDatabase } from '#temporal-dev/database.ts';
import { takeRunSlot } from './run-slot.ts';
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

declare module 'vitest' {
  interface ProvidedContext {
    stack: TestStack;
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Brings up one real stack for the whole run, beside those of other runs, and a migrated template database in it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const slot = await takeRunSlot(join(root, '.local'));
  try {
    const stop = await bringUp(project, slot.stateDir);
    return async () => {
      await stop();
      await slot.release();
    };
  } catch (error) {
    await slot.release();
    throw error;
  }
}

async function bringUp(project: TestProject, stateDir: string): Promise<() => Promise<void>> {
  const folder = join(stateDir, 'run');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const startedAt = Date.now();
  const [stack, bundlePath] = await Promise.all([
    startStack({ stateDir, profile: 'test', report: (line) => console.log(`stack: ${line}`) }),
    workflowBundle(join(root, '.local', 'bundles')),
  ]);
  try {
    const { postgres, temporal, openfga } = stack;
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
    await Promise.all([migrate(postgres.url(template)), prepareNamespace(gateway, 86_400_000)]);
    await gateway.close();
    project.provide('stack', {
      postgresUrl: postgres.url('DATABASE'),
      template,
      temporalAddress: temporal.address,
      namespace,
      openfgaUrl: openfga.url,
      bundlePath,
      folder,
    });
    console.log(`stack: ready in ${Date.now() - startedAt} ms`);
  } catch (error) {
    await stack.stop();
    throw error;
  }
  return () => stack.stop();
}

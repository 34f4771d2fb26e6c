import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Failpoint } from '#entities/kit/base/failpoint.ts';
import { integration, integrationRun } from '#entities/index.ts';
import { requestRun } from '#entities/integrations/runs/request-run.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { loopSignals, reconcileIntegrationContract } from '#workflows/integrations/reconcile-integration.contract.ts';
import { asSystem, transactAs } from '../kit/as-person.ts';
import { sampleOf, seeded } from '../kit/depth.ts';
import { eventually } from '../kit/eventually.ts';
import { connectChat } from '../kit/integrations/connected-chat.ts';
import { DirectorySimulation } from '../kit/integrations/simulation/directory-simulation.ts';
import { openSimulatedProviders, type SimulatedProviders } from '../kit/integrations/simulation/simulated-providers.ts';
import { expectedContent, writtenContent } from '../kit/integrations/simulation/written-directories.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { ProductProcesses, type Program } from '../kit/processes/product-processes.ts';
import { recordTried } from '../kit/tried.ts';

const worker = 'worker/worker-main.ts' satisfies Program;

const early: readonly Failpoint[] = [
  'integration-page-read',
  'integration-page-taken',
  'integration-records-removed',
  'integration-credential-renewed',
];

/** One life ends at each of them; the last one when a message was sent. */
const deaths = [
  ...sampleOf('kills of integrations', early, { by: [() => 'any'], atLeast: 2 }),
  'integration-operation-performed' as const,
];

const random = seeded('killed integrations');
let providers: SimulatedProviders;
let product: ProductProcesses;
beforeAll(async () => {
  providers = await openSimulatedProviders(random);
  const { world, chat, directory } = providers;
  const urls = Object.entries({ ...chat.urls, ...directory.urls });
  product = await ProductProcesses.start(world, [worker], {
    [worker]: [...deaths.map((name) => ({ FAILPOINTS: `${name}=kill` })), {}].map((life) => ({
      ...life,
      INTEGRATION_PROVIDER_URLS: urls.map((pair) => pair.join('=')).join(','),
    })),
  });
});
afterAll(async () => {
  await product.close();
  await providers.close();
});

/** Asks the loop of a directory for a round. */
function wake(integrationId: string, { organization }: Person): Promise<unknown> {
  const input = { integrationId, operation: 'directorySync', organizationId: organization.id };
  const options = { signal: loopSignals.runNow, search: {} };
  return providers.world.runtime.temporal.wake(reconcileIntegrationContract, input, options);
}

function requestMessage(integrationId: string, { organization }: Person, text: string): Promise<string> {
  const { runtime } = providers.world;
  return transactAs(runtime, systemCaller('test', organization.id), async (unit) => {
    const row = await unit.data.get(integration, integrationId);
    const input = { text, channel: 'C0000000001' };
    const request = { operation: 'messageSend', isInline: true, trigger: 'workflow', input } as const;
    return (await requestRun(unit, { ...request, integration: row })).id;
  });
}

test('killed at every boundary: a directory is taken over as it is, and a message is sent at most once', async () => {
  const { world, chat, directory: fake } = providers;
  const [place] = product.places;
  const simulation = new DirectorySimulation(providers, random);
  await simulation.install(1);
  const [directory] = simulation.directories;
  if (!directory) throw new Error('no directory is connected');
  for (let death = 1; death < deaths.length; death++) {
    simulation.removeSome(directory);
    // The credential is refused before its time, so it is renewed.
    fake.endTokens();
    await eventually(async () => {
      product.refuseCrashes();
      await wake(directory.integrationId, directory.owner);
      return (place?.deaths ?? 0) >= death;
    }, 120_000);
  }

  const owner = await buildPerson(world);
  const chatId = await connectChat(chat, await signedIn(world, owner));
  const id = await requestMessage(chatId, owner, 'hello');
  const run = () => asSystem(world, owner.organization.id, (data) => data.get(integrationRun, id));
  await eventually(async () => (await run()).endedAt !== null, 120_000);
  expect(await run()).toMatchObject({ status: 'failed', errorCode: 'uncertain' });
  expect(chat.posted).toEqual([{ channel: 'C0000000001', text: 'hello' }]);

  await eventually(async () => {
    await wake(directory.integrationId, directory.owner);
    expect(await writtenContent(world, directory)).toEqual(expectedContent(directory));
    return true;
  });
  expect(place?.deaths).toBe(deaths.length);
  product.refuseCrashes();
  recordTried('kills while integrations work', deaths.length);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { seeded, timesOf } from '../../kit/depth.ts';
import { DirectorySimulation } from '../../kit/integrations/simulation/directory-simulation.ts';
import {
  openSimulatedProviders,
  type SimulatedProviders,
} from '../../kit/integrations/simulation/simulated-providers.ts';
import {
  expectedContent,
  writesOfDirectories,
  writtenContent,
} from '../../kit/integrations/simulation/written-directories.ts';
import { recordTried } from '../../kit/tried.ts';

/** One of each provider, or several. */
const installations = timesOf({ sample: 6, prove: 20 });
const days = timesOf({ sample: 1, prove: 10 });

let providers: SimulatedProviders;
const random = seeded('simulation of integrations');
beforeAll(async () => {
  providers = await openSimulatedProviders(random);
});
afterAll(() => providers.close());

test('days of failing providers and crashes: when all is idle, rows equal the directories, and nothing was lost, doubled or wrongly removed', async () => {
  const { world, chat } = providers;
  const simulation = new DirectorySimulation(providers, random);
  await simulation.install(installations);
  await simulation.run(days * 86_400_000);
  await simulation.settle();
  const { directories } = simulation;
  for (const directory of directories)
    expect(await writtenContent(world, directory)).toEqual(expectedContent(directory));
  expect(simulation.crashes.left).toEqual(new Set());

  const written = await writesOfDirectories(world);
  expect(written.history).toBe(written.versions);
  await simulation.settle();
  expect(await writesOfDirectories(world)).toEqual(written);

  for (const { text, status } of simulation.messages.flatMap(({ sent }) => sent)) {
    const arrivals = chat.posted.filter((message) => message.text === text).length;
    expect({ text, status, arrivals: Math.min(arrivals, 1) }).toEqual({
      text,
      status: expect.stringMatching(arrivals === 1 ? /succeeded|failed/ : /failed/),
      arrivals,
    });
  }
  recordTried('simulated days of installations', days * installations);
});

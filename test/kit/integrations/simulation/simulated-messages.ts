import { ProviderError } from '#activities/clients/integrations/provider-error.ts';
import { advanceRun } from '#activities/integrations/runs/advance-run.ts';
import { failRun } from '#activities/integrations/runs/fail-run.ts';
import { integration, integrationRun } from '#entities/index.ts';
import { requestRun } from '#entities/integrations/runs/request-run.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { asSystem, transactAs } from '../../as-person.ts';
import type { World } from '../../world.ts';
import type { PlannedCrashes } from './planned-crashes.ts';
import { loopDependencies, passRates } from './simulated-loop.ts';

const maxAttempts = 5;

interface SentMessage {
  readonly text: string;
  readonly status: string;
}

/** Messages that runs send to a chat, each at most once. */
export class SimulatedMessages {
  readonly sent: SentMessage[] = [];
  readonly #world: World;
  readonly #organizationId: string;
  readonly #integrationId: string;

  constructor(world: World, organizationId: string, integrationId: string) {
    this.#world = world;
    this.#organizationId = organizationId;
    this.#integrationId = integrationId;
  }

  async send(crashes: PlannedCrashes): Promise<void> {
    const text = `message ${this.sent.length} of ${this.#integrationId}`;
    const id = await this.#request(text);
    if (id === undefined) return;
    for (let attempts = 1; ; attempts++) {
      await passRates(this.#world);
      const ended = await crashes
        .during('message', () => advanceRun(loopDependencies(this.#world), id, { budgetMs: 0 }))
        .catch((error: unknown) => {
          if (error instanceof ProviderError) return 'failed' as const;
          throw error;
        });
      if (typeof ended === 'object' && ended.isDone) break;
      if (attempts < maxAttempts) continue;
      await failRun(loopDependencies(this.#world), id);
      break;
    }
    const { status } = await asSystem(this.#world, this.#organizationId, (data) => data.get(integrationRun, id));
    this.sent.push({ text, status });
  }

  async #request(text: string): Promise<string | undefined> {
    const row = await asSystem(this.#world, this.#organizationId, (data) => data.get(integration, this.#integrationId));
    if (row.status !== 'connected') return undefined;
    const system = systemCaller('simulation', this.#organizationId);
    return transactAs(this.#world.runtime, system, async (unit) => {
      const input = { text, channel: 'C0000000001' };
      const request = { integration: row, operation: 'messageSend', isInline: true, trigger: 'person', input } as const;
      return (await requestRun(unit, request)).id;
    });
  }
}

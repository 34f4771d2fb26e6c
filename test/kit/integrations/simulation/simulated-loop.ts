import { ProviderError } from '#activities/clients/integrations/provider-error.ts';
import { definitionOf } from '#activities/clients/integrations/definitions.ts';
import { advanceRound, giveUpRound, type LoopDependencies } from '#activities/integrations/loops/advance-round.ts';
import { loopPauses } from '#workflows/integrations/reconcile-integration.contract.ts';
import { asOwner } from '../../as-owner.ts';
import type { Random } from '../../random.ts';
import { recordTried } from '../../tried.ts';
import type { World } from '../../world.ts';
import type { PlannedCrashes } from './planned-crashes.ts';

/** Attempts of a call before the round is given up. */
const maxAttempts = 5;

/** The loop of an integration without its workflow: what `reconcileIntegration` does, by the clock of the world. */
export class SimulatedLoop {
  /** When it does something next, in milliseconds. */
  at: number;
  /** No pass is in progress. */
  isAtRest = true;
  /** The integration does not want it any more. */
  isEnded = false;
  /** Rounds that have ended. */
  rounds = 0;
  readonly #world: World;
  readonly #random: Random;
  readonly #integrationId: string;
  #pauseMs: number = loopPauses.minMs;
  #attempts = 0;

  constructor(world: World, random: Random, integrationId: string) {
    this.#world = world;
    this.#random = random;
    this.#integrationId = integrationId;
    this.at = world.clock.now().getTime();
  }

  get #dependencies(): LoopDependencies {
    return loopDependencies(this.#world);
  }

  get #loop() {
    return { integrationId: this.#integrationId, operation: 'directorySync', pauseMs: this.#pauseMs };
  }

  /** One call of an activity. @param crashes that may end it; none: nothing crashes */
  async act(crashes?: PlannedCrashes): Promise<void> {
    await passRates(this.#world);
    const now = this.#world.clock.now().getTime();
    this.isAtRest = false;
    // Most calls take over one page; providers without waits between requests let others take more.
    const budgetMs = this.#random.chance(0.15) ? 1_000 : 0;
    recordTried('calls of loops', 1);
    const call = () => advanceRound(this.#dependencies, this.#loop, { budgetMs });
    try {
      const round = await (crashes ? crashes.during('loop', call) : call());
      if (round === 'crashed') return this.#repeat(now, 1_000);
      this.#attempts = 0;
      if (round.status === 'unfinished') this.at = now + Math.max(1_000, round.pauseMs);
      else this.#rest(now, round.pauseMs);
      this.isEnded = round.status === 'ended';
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      if (++this.#attempts < maxAttempts && error.isPassing) return this.#repeat(now, error.retryAfterMs ?? 1_000);
      this.#rest(now, await giveUpRound(this.#dependencies, this.#loop, false));
    }
  }

  /** Somebody has connected the integration again, or asks for a round. */
  wake(): void {
    this.isEnded = false;
    this.at = this.#world.clock.now().getTime();
  }

  #repeat(now: number, pauseMs: number): void {
    this.at = now + pauseMs;
  }

  #rest(now: number, pauseMs: number): void {
    this.#attempts = 0;
    this.#pauseMs = Math.max(pauseMs, loopPauses.minMs);
    this.at = now + this.#pauseMs;
    this.isAtRest = true;
    this.rounds += 1;
  }
}

export function loopDependencies({ runtime: { database, expressions, integrations } }: World): LoopDependencies {
  return { definitionOf, database, expressions, integrations };
}

/** Rates of accounts follow the clock of the database, and the simulation is faster. */
export async function passRates(world: World): Promise<void> {
  await asOwner(world, 'delete from integration_account_rates');
}

import {
  attemptsToRepeat,
  readDeliveries,
  repeatDelivery,
} from '../clients/integrations/codehostapp/delivery-attempts.ts';
import { ProviderError } from '../clients/integrations/provider-error.ts';
import { defineActivities } from '../kit/activity-dependencies.ts';

/** Time for which the code host keeps deliveries, in milliseconds: three days. */
const keptMs = 3 * 86_400_000;

/** Events of one run; the others are those of the next one. */
const maxEvents = 200;

export type CodeHostActivities = ReturnType<typeof createCodeHostActivities>;

export const createCodeHostActivities = defineActivities(({ config, integrations, logger }) => ({
  /** Deliveries of the app that are to be repeated; none while the app has no secret. @throws ProviderError */
  findFailedDeliveries: async (): Promise<readonly string[]> => {
    const { appid, webhooksecret } = config.current.integrations.codehostapp;
    if (appid === '' || webhooksecret === '') return [];
    const context = integrations.opening({});
    const attempts = await readDeliveries(context, new Date(context.now().getTime() - keptMs));
    return attemptsToRepeat(attempts).slice(0, maxEvents);
  },

  /** @returns whether the code host delivers it again @throws ProviderError that a later attempt may not have */
  requestDelivery: async ({ deliveryId }: { readonly deliveryId: string }): Promise<boolean> => {
    try {
      await repeatDelivery(integrations.opening({}), deliveryId);
      return true;
    } catch (error) {
      if (!(error instanceof ProviderError) || error.isPassing) throw error;
      logger.warn({ err: error, delivery_id: deliveryId }, 'the code host does not deliver an event again');
      return false;
    }
  },
}));

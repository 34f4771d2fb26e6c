import type { StartInput } from '#workflows/kit/contract.ts';
import {
  sendSystemMessageContract,
  type OperatorMessage,
  type SendSystemMessageInput,
} from '#workflows/identity/send-system-message.contract.ts';
import type { ActivityDependencies } from '../kit/activity-dependencies.ts';
import { chatTarget } from '../clients/chat/chat-target.ts';

type NotifyingDependencies = Pick<ActivityDependencies, 'config' | 'database' | 'temporal' | 'logger'>;

const hourMs = 3_600_000;

/**
 * Notifies the operator that something waits for them, once an hour however often it happens. The waiting work is in rows and workflows as
 * well, so a message that cannot be started is only logged.
 * @param subject what waits; the same one is reported once an hour
 */
export async function notifyOperator(
  { config, database, temporal, logger }: NotifyingDependencies,
  subject: string,
  message: OperatorMessage,
): Promise<void> {
  if (!chatTarget(config.current, {})) return;
  const hour = Math.floor(database.options.clock.now().getTime() / hourMs) * hourMs;
  const input: StartInput<SendSystemMessageInput> = {
    about: message,
    key: `${message.message}/${subject}/${new Date(hour).toISOString().slice(0, 13)}`,
  };
  try {
    await temporal.start(sendSystemMessageContract, input, { search: {} });
  } catch (error) {
    logger.error({ err: error, message: message.message }, 'a message to the operator could not be started');
  }
}

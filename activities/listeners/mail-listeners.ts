import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import type { Mail } from '../mails/define-mail.ts';
import { defineListener, type Delivery, type Listener } from './listener.ts';

/** Listeners that send mails when what they follow happens: one for each name that mails give. */
export function mailListeners(mails: readonly Mail[]): Listener[] {
  const following = mails.filter(({ follows }) => follows !== undefined);
  return [...Map.groupBy(following, ({ listener }) => listener)].map(([name, own]) => {
    const topics = new Set(own.flatMap(topicsOf));
    const subscriptions = [...topics].map((topic) => ({ topic }));
    return defineListener(name, subscriptions, async (delivery) => {
      for (const mail of own) if (topicsOf(mail).includes(delivery.event.topic)) await send(mail, delivery);
    });
  });
}

function topicsOf({ follows = [] }: Mail): string[] {
  return follows.map(({ topic }) => topic);
}

async function send(
  { name, priority, condition, audience, delayMs }: Mail,
  delivery: Delivery<unknown>,
): Promise<void> {
  if (condition && !(await condition(delivery))) return;
  for (const { key = delivery.key, ...addressee } of (await audience?.(delivery)) ?? [])
    delivery.start(
      sendEmailContract,
      { key, template: name, ...(priority ? { priority } : {}), ...addressee },
      delayMs ? { startDelayMs: delayMs(delivery) } : {},
    );
}
